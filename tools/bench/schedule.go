package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/memory"
	"feedmesh/agent/mesh"
	"feedmesh/agent/role/schedule"
	"feedmesh/agent/role/work"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/postgres"
	"feedmesh/subjects"
	"feedmesh/tests/engines"
	"feedmesh/tools/bench/report"
)

// benchSchedule measures one partition of the schedule of a large mesh, in this process, by a clock that is faster than that of the
// system. Its tasks and their results pass a NATS server; the crawlers make no requests. Each other partition has such a load too, on an
// agent of its own.
func benchSchedule(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("schedule", flag.ContinueOnError)
	b := &scheduleBench{Report: out}
	feeds := flags.Int("feeds", 10_000_000, "feeds of the mesh")
	flags.IntVar(&b.partitions, "partitions", 16, "partitions of its schedule, of which one is measured")
	flags.Float64Var(&b.items, "items", 3, "new items of a feed a day, on average")
	flags.Float64Var(&b.clock.speed, "speed", 6, "speed of the schedule's clock")
	flags.DurationVar(&b.lasts, "for", 24*time.Hour, "duration of the measurement by this clock")
	flags.StringVar(&b.profiles, "profiles", "", "folder for the CPU and heap profiles of the restart")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	b.feeds = *feeds / b.partitions
	return inFolder(func(dir string) error { return b.in(ctx, dir) })
}

// A scheduleBench is a partition under measurement.
type scheduleBench struct {
	*report.Report
	feeds, partitions int // feeds of the partition
	items             float64
	lasts             time.Duration
	clock             fastClock
	profiles          string // folder; empty: none

	server   *engines.NATSServer
	url      string
	store    storage.Store
	registry *prometheus.Registry // of the active schedule
	crawls   *remoteCrawls
}

// in measures with the data in a folder.
func (b *scheduleBench) in(ctx context.Context, dir string) (err error) {
	folders := map[string]string{}
	for _, name := range []string{"postgres", "nats"} {
		folders[name] = filepath.Join(dir, name)
		if err := os.Mkdir(folders[name], 0o755); err != nil {
			return err
		}
	}
	database, err := engines.StartPostgres(folders["postgres"])
	if err != nil {
		return err
	}
	defer database.Kill()
	url, err := database.Create("feedmesh")
	if err != nil {
		return err
	}
	if b.store, err = postgres.Open(ctx, url); err != nil {
		return err
	}
	defer b.store.Close()
	if err := b.fill(ctx); err != nil {
		return err
	}
	servers, err := engines.StartNATS(folders["nats"], 1)
	if err != nil {
		return err
	}
	defer servers.Kill()
	b.server, b.url = servers.Servers[0], servers.URLs()[0]
	b.clock.start = time.Now()
	return errors.Join(b.active(ctx, b.day), b.active(ctx, b.restarted))
}

// fill adds the feeds of the measured partition to the store, ten of each host.
func (b *scheduleBench) fill(ctx context.Context) error {
	hosts := 0
	return fillStore(ctx, b.store, b.feeds, func(i int) string {
		for i%10 == 0 {
			if hosts++; subjects.PartitionOf(b.feedURL(hosts, 0), b.partitions) == b.partitions-1 {
				break
			}
		}
		return b.feedURL(hosts, i)
	})
}

func (b *scheduleBench) feedURL(host, i int) string {
	return fmt.Sprintf("http://host%d.example/feed/%d", host, i)
}

// active calls do while the schedule is active, with the time of its start.
func (b *scheduleBench) active(ctx context.Context, do func(ctx context.Context, started time.Time) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := nats.Connect(b.url)
	if err != nil {
		return err
	}
	defer conn.Close()
	b.registry = prometheus.NewRegistry()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	m, err := mesh.Join(ctx, mesh.Options{Agent: "schedule", Conn: conn, Partitions: b.partitions, Log: log, Metrics: b.registry})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	started := time.Now()
	go memory.Tend(ctx)
	go func() {
		ended <- schedule.Run(ctx, &work.Env{
			Config: config.Default(), Mesh: m, Store: b.store, Clock: b.clock.now, Log: log, Metrics: b.registry, CheckDiskSpace: func() error { return nil },
		})
	}()
	err = do(ctx, started)
	cancel()
	return errors.Join(err, <-ended)
}

// gauge returns the sum of a metric of the active schedule over some label sets.
func (b *scheduleBench) gauge(name string, keep func(labels map[string]string) bool) (float64, error) {
	families, err := b.registry.Gather()
	if err != nil {
		return 0, err
	}
	all := metrics{}
	for _, f := range families {
		all[f.GetName()] = f
	}
	return all.sum(name, keep), nil
}

// untilLoaded waits until the schedule has all feeds.
func (b *scheduleBench) untilLoaded(ctx context.Context) error {
	return b.until(ctx, func() (bool, error) {
		n, err := b.gauge("feedmesh_feeds", notFailing)
		return n >= float64(b.feeds), err
	})
}

// until waits until a condition holds, at most for [waitTimeout].
func (b *scheduleBench) until(ctx context.Context, holds func() (bool, error)) error {
	for deadline := time.Now().Add(waitTimeout); ; {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the schedule is not ready after %v: with fewer feeds or a lower -speed it may keep up", waitTimeout)
		}
		if !work.Sleep(ctx, 200*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// day measures the schedule from the poll of all feeds on.
func (b *scheduleBench) day(ctx context.Context, started time.Time) (err error) {
	if b.crawls, err = startCrawls(ctx, b.url, b.clock, b.items); err != nil {
		return err
	}
	defer b.crawls.process.Kill()
	if err := b.untilLoaded(ctx); err != nil {
		return err
	}
	b.Add("feeds of the partition", float64(b.feeds), "")
	b.Add("new feeds scheduled after the start within", time.Since(started).Seconds(), "s")
	err = b.until(ctx, func() (bool, error) {
		r, err := b.crawls.results(ctx)
		return r.Polls >= int64(b.feeds), err
	})
	if err != nil {
		return err
	}
	b.Add("all of them polled within", time.Since(started).Seconds(), "s")
	err = b.until(ctx, func() (bool, error) { // feeds that became due again meanwhile
		overdue, err := b.gauge("feedmesh_overdue_feeds", all)
		return overdue < float64(b.feeds)/1000, err
	})
	if err != nil {
		return err
	}
	before, err := b.crawls.results(ctx)
	if err != nil {
		return err
	}
	traffic, err := b.server.Traffic()
	if err != nil {
		return err
	}
	own, server := usedBy(os.Getpid()), usedBy(b.server.ID())
	if !work.Sleep(ctx, time.Duration(float64(b.lasts)/b.clock.speed)) {
		return ctx.Err()
	}
	after, err := b.crawls.results(ctx)
	if err != nil {
		return err
	}
	spent, ofServer := usedBy(os.Getpid()).since(own), usedBy(b.server.ID()).since(server)
	later, err := b.server.Traffic()
	if err != nil {
		return err
	}
	return b.rows(ctx, after.since(before), spent, ofServer, later.Since(traffic))
}

// rows adds the rows of the day.
func (b *scheduleBench) rows(ctx context.Context, r crawlResults, spent, server usagePeriod, traffic engines.Traffic) error {
	polls := float64(r.Polls)
	b.Add("polls by the schedule's clock", polls/b.lasts.Seconds(), "/s")
	b.Add("polls of a feed a day", polls/float64(b.feeds)*(24*time.Hour).Seconds()/b.lasts.Seconds(), "")
	b.Add("polls measured", spent.rate(polls), "/s")
	b.Add("feeds of a task", polls/float64(r.Tasks), "")
	for _, q := range []float64{0.5, 0.99} {
		b.Add(fmt.Sprintf("due to start: p%g", 100*q), r.late(q), "s of this clock")
		b.Add(fmt.Sprintf("due to start: p%g, measured", 100*q), r.late(q)/b.clock.speed, "s")
	}
	b.Add("CPU of the schedule", spent.micros(polls), "us a poll")
	b.Add("CPU of the NATS server", server.micros(polls), "us a poll")
	b.Add("written by the NATS server", float64(server.written)/polls, "bytes a poll")
	b.Add("messages to the NATS server", float64(traffic.Messages)/polls, "a poll")
	b.Add("bytes to the NATS server", float64(traffic.Bytes)/polls, "a poll")
	overdue, err := b.gauge("feedmesh_overdue_feeds", all)
	if err != nil {
		return err
	}
	b.Add("overdue in the end", overdue, "feeds")
	debug.FreeOSMemory()
	b.Add("memory of the schedule (RSS)", float64(memoryOf(os.Getpid(), "VmRSS"))/1e6, "MB")
	b.Add("memory of the schedule (RSS), at most", float64(memoryOf(os.Getpid(), "VmHWM"))/1e6, "MB")
	b.Add("memory of the NATS server (RSS), at most", float64(memoryOf(b.server.ID(), "VmHWM"))/1e6, "MB")
	conn, err := nats.Connect(b.url)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	bucket, err := js.Stream(ctx, "KV_"+subjects.ScheduleBucket)
	if err != nil {
		return err
	}
	b.Add("states in the bucket", float64(bucket.CachedInfo().State.Bytes)/float64(b.feeds), "bytes a feed")
	return nil
}

// restarted measures the start with all states.
func (b *scheduleBench) restarted(ctx context.Context, started time.Time) error {
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	if err := b.untilLoaded(ctx); err != nil {
		return err
	}
	b.Add("restart: all feeds scheduled within", time.Since(started).Seconds(), "s")
	b.Add("restart: memory of the schedule (RSS)", float64(memoryOf(os.Getpid(), "VmRSS"))/1e6, "MB")
	pprof.StopCPUProfile()
	return errors.Join(storeProfile(b.profiles, "restart.cpu", func(w io.Writer) error { _, err := cpu.WriteTo(w); return err }),
		storeProfile(b.profiles, "restart.heap", pprof.WriteHeapProfile))
}
