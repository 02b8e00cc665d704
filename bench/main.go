// Command bench measures a whole node on synthetic feeds, which a process of
// their own serves, and prints a table. The node runs in this process, so that
// one profile has all of it. With the argument "mesh" it measures meshes of
// several processes instead, side by side; with "crawl" polling alone, of many
// feeds; with "parse" what documents cost to read and entries to prepare; with
// "classify" what rules cost to load and to fire; with "near" and "stories" what it
// costs to find items that repeat others, and to group them; with "takeover" how
// long who does so needs to remember what there is; with "search" what each search
// engine takes to index items and to answer.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/feed"
	"feedmesh/agent/node"
	"feedmesh/agent/simulate"
	"feedmesh/config"
)

func main() {
	feeds := flag.Int("feeds", 2000, "synthetic feeds")
	items := flag.Int("items", 20, "entries that each shows")
	hosts := flag.Int("hosts", 200, "addresses of this machine they are spread over")
	cpu := flag.String("cpuprofile", "", "keep the first sweep's CPU profile in this file")
	serve := flag.String("serve", "", "be the process that serves the feeds, on this port")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *serve != "":
		err = serveFarm(ctx, *serve, *feeds, *items, *hosts)
	case flag.Arg(0) == "mesh":
		err = benchMesh(ctx, *feeds, *items, *hosts)
	case flag.Arg(0) == "parse":
		err = benchParse()
	case flag.Arg(0) == "classify":
		err = benchClassify(ctx, flag.Args()[1:])
	case flag.Arg(0) == "near":
		err = benchNear(flag.Args()[1:])
	case flag.Arg(0) == "stories":
		err = benchStories(flag.Args()[1:])
	case flag.Arg(0) == "takeover":
		err = benchTakeover(ctx, flag.Args()[1:])
	case flag.Arg(0) == "search":
		err = benchSearch(ctx, flag.Args()[1:])
	case flag.Arg(0) == "crawl":
		err = benchCrawl(ctx, flag.Args()[1:])
	default:
		err = bench(ctx, *feeds, *items, *hosts, *cpu)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A run is one node under measurement.
type run struct {
	*api.Client
	farm  *remoteFarm
	clock *clock
	feeds int
	dir   string
	table table
}

func bench(ctx context.Context, feeds, items, hosts int, keep string) error {
	dir, err := os.MkdirTemp("", "feedmesh-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	farm, err := startFarm(ctx, feeds, items, hosts)
	if err != nil {
		return err
	}
	defer farm.stop()
	r := &run{farm: farm, clock: &clock{}, feeds: feeds, dir: dir}
	fmt.Printf("%d feeds of %d items on %d addresses\n", feeds, items, hosts)
	r.parseAlone(items)

	ctx, cancel := context.WithCancel(ctx)
	ended, err := r.start(ctx, settings(dir))
	if err != nil {
		cancel()
		return err
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return r.firstSweep(ctx, items, keep) },
		r.unchangedSweeps,
		r.steady,
	} {
		if err := step(ctx); err != nil {
			cancel()
			<-ended
			return err
		}
	}
	r.table.add("peak memory of the process (RSS)", "%.0f MB", float64(memory("VmHWM"))/1e6)
	cancel()
	if err := <-ended; err != nil {
		return err
	}
	r.sizes(feeds * (items + 1))
	r.table.print(os.Stdout)
	return nil
}

// settings returns those of the node: with hosts that bear what it can do, and an
// interval after which all feeds are due.
func settings(dir string) config.Config {
	c := config.Default()
	c.Data, c.Listen, c.Starter = dir, "127.0.0.1:0", false
	c.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Schedule.HostSpacing, c.Schedule.Interval = 0, time.Hour
	return c
}

// start runs the node and returns where to hear of its end.
func (r *run) start(ctx context.Context, c config.Config) (ended chan error, err error) {
	ready := make(chan string, 1)
	ended = make(chan error, 1)
	go func() {
		ended <- node.Run(ctx, c, node.Options{
			Version: "bench", Clock: r.clock.now, Ready: func(addr string) { ready <- addr },
			Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
	}()
	select {
	case addr := <-ready:
		r.Client, err = api.NewClient("http://"+addr, "")
		return ended, err
	case err := <-ended:
		return nil, fmt.Errorf("the node did not start: %w", err)
	}
}

// parseAlone measures the parser by itself, on one core.
func (r *run) parseAlone(items int) {
	farm := simulate.NewFarm(50, items, time.Now())
	documents := make([][]byte, 50)
	size := 0
	for i := range documents {
		documents[i] = farm.Document(i)
		size += len(documents[i])
	}
	const rounds = 20
	began := time.Now()
	for range rounds {
		for _, d := range documents {
			if _, err := feed.Parse(d, "application/rss+xml", "https://example.org/"); err != nil {
				panic(err) // our own documents
			}
		}
	}
	took := time.Since(began).Seconds()
	r.table.add("documents parsed, parser alone", "%.0f /s (%.0f MB/s)", rounds*50/took, rounds*float64(size)/1e6/took)
}

// firstSweep measures from the first feed added to the last item searchable.
func (r *run) firstSweep(ctx context.Context, items int, keep string) error {
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		return err
	}
	used, began := cpuTime(), time.Now()
	if _, err := r.ImportFeeds(ctx, strings.NewReader(strings.Join(r.farm.urls, "\n"))); err != nil {
		return err
	}
	st, err := r.until(ctx, func(st api.Status) bool { return st.Indexed >= int64(r.feeds*items) })
	if err != nil {
		return err
	}
	took, cpu := time.Since(began), cpuTime()-used
	pprof.StopCPUProfile()
	if keep != "" {
		if err := os.WriteFile(keep, profile.Bytes(), 0o644); err != nil {
			return err
		}
	}
	n := float64(st.Indexed)
	r.table.add("first sweep: items from fetch to searchable", "%.0f /s", n/took.Seconds())
	r.table.add("first sweep: documents", "%.0f /s", float64(r.feeds)/took.Seconds())
	r.table.add("first sweep: CPU of the node", "%.2f ms an item (%.0f %% of a core)", cpu.Seconds()*1000/n, 100*cpu.Seconds()/took.Seconds())
	return r.shares(profile.Bytes(), n)
}

// rounds is how many unchanged sweeps are measured.
const rounds = 10

// unchangedSweeps measures polls that find nothing new, observations included.
func (r *run) unchangedSweeps(ctx context.Context) error {
	if _, err := r.until(ctx, idle); err != nil {
		return err
	}
	before, err := r.farm.count()
	if err != nil {
		return err
	}
	used, began := cpuTime(), time.Now()
	for range rounds {
		r.clock.add(25 * time.Hour) // all are due at once
		since := r.clock.now().Add(-time.Minute)
		if err := r.polled(ctx, since); err != nil {
			return err
		}
	}
	took, cpu := time.Since(began), cpuTime()-used
	after, err := r.farm.count()
	if err != nil {
		return err
	}
	polls := float64(after - before)
	r.table.add("unchanged polls", "%.0f /s", polls/took.Seconds())
	r.table.add("unchanged polls: CPU of the node", "%.0f us a poll", cpu.Seconds()*1e6/polls)
	return nil
}

// steady measures how long a new item takes from fetch to searchable when few
// come at a time.
func (r *run) steady(ctx context.Context) error {
	if err := r.farm.publish(); err != nil {
		return err
	}
	before, err := r.lag(ctx)
	if err != nil {
		return err
	}
	const perSecond, seconds = 20, 15
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	ids, err := r.someFeeds(ctx, perSecond*seconds)
	if err != nil {
		return err
	}
	for _, id := range ids {
		<-tick.C
		if err := r.RefreshFeed(ctx, id); err != nil {
			return err
		}
	}
	if _, err := r.until(ctx, idle); err != nil {
		return err
	}
	after, err := r.lag(ctx)
	if err != nil {
		return err
	}
	r.table.add(fmt.Sprintf("fetched to searchable, at %d documents/s: p50", perSecond), "%s", after.quantile(before, 0.50))
	r.table.add(fmt.Sprintf("fetched to searchable, at %d documents/s: p99", perSecond), "%s", after.quantile(before, 0.99))

	// And all feeds at once, each with its new item.
	n := float64(r.feeds - len(ids))
	began := time.Now()
	st, err := r.Status(ctx)
	if err != nil {
		return err
	}
	want := st.Indexed + int64(n)
	r.clock.add(25 * time.Hour)
	if _, err := r.until(ctx, func(st api.Status) bool { return st.Indexed >= want }); err != nil {
		return err
	}
	r.table.add("sweep with one new item in each feed", "%.0f feeds/s", n/time.Since(began).Seconds())
	return nil
}

// sizes measures what the node left on disk.
func (r *run) sizes(items int) {
	for _, part := range []struct{ name, path string }{{"store", "store.db"}, {"index", "index"}, {"queues and schedule", "nats"}} {
		size := bytesUnder(filepath.Join(r.dir, part.path))
		r.table.add("on disk: "+part.name, "%.0f bytes an item (%.0f MB)", float64(size)/float64(items), float64(size)/1e6)
	}
}
