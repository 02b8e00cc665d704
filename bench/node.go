package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/pprof/profile"

	"feedmesh/agent/api"
	"feedmesh/agent/node"
	"feedmesh/config"
	"feedmesh/subjects"
)

// A run is one node under measurement, in this process: one profile has all of it,
// and its clock can be put forward.
type run struct {
	*api.Client
	*report
	farm     *remoteFarm
	clock    *clock
	size     farmSize
	dir      string // its data
	profiles string // folder that profiles are kept in; empty: nowhere
}

// A clock can be put forward, to have feeds due.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time      { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) add(d time.Duration) { c.ahead.Add(int64(d)) }

// settings returns those of the node: with hosts that bear what it can do, and an
// interval after which all feeds are due.
func settings(dir string) config.Config {
	c := config.Default()
	c.Data, c.Listen, c.Starter = dir, "127.0.0.1:0", false
	c.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Schedule.HostSpacing, c.Schedule.Policy, c.Schedule.Interval = 0, "uniform", 5*time.Minute
	return c
}

// inFolder does something with a data folder of its own.
func (r *run) inFolder(do func() error) error {
	return inFolder(func(dir string) error {
		r.dir = dir
		return do()
	})
}

// withFarm does something while a farm of the run's size serves.
func (r *run) withFarm(do func() error) (err error) {
	if r.farm, err = startFarm(r.size); err != nil {
		return err
	}
	defer r.farm.stop()
	return do()
}

// withNode runs a node with these settings and does the steps, one after the other;
// then it ends the node.
func (r *run) withNode(ctx context.Context, c config.Config, steps ...func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, err := r.start(ctx, c)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if err = step(ctx); err != nil {
			break
		}
	}
	cancel()
	return errors.Join(err, <-ended)
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

// A phase is what a part of a run took.
type phase struct {
	spent
	farm    time.Duration // of the processor, by the farm
	profile *profile.Profile
}

// measure does something and measures it. Its CPU profile, and the heap after it,
// are kept under its name, if it has one and profiles are kept.
func (r *run) measure(name string, do func() error) (p phase, err error) {
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return p, err
	}
	farm, before := processorTime(r.farm.process.ID()), usedBy(os.Getpid())
	err = do()
	p.spent, p.farm = usedBy(os.Getpid()).since(before), processorTime(r.farm.process.ID())-farm
	pprof.StopCPUProfile()
	if err != nil {
		return p, err
	}
	if p.profile, err = profile.Parse(&cpu); err != nil {
		return p, err
	}
	return p, r.keepProfiles(name, p.profile)
}

func (r *run) keepProfiles(name string, cpu *profile.Profile) error {
	if name == "" {
		return nil
	}
	return errors.Join(keepProfile(r.profiles, name+".cpu", cpu.Write), keepProfile(r.profiles, name+".heap", pprof.WriteHeapProfile))
}

// atMost is how long anything may take.
const atMost = time.Hour

// until waits until the node's status is as asked for.
func (r *run) until(ctx context.Context, is func(api.Status) bool) (api.Status, error) {
	return until(ctx, r.Client, 200*time.Millisecond, is)
}

// until asks for the status of the node with each pause, until it is as asked for.
func until(ctx context.Context, node *api.Client, pause time.Duration, is func(api.Status) bool) (api.Status, error) {
	for deadline := time.Now().Add(atMost); ; time.Sleep(pause) {
		st, err := node.Status(ctx)
		if err != nil {
			return st, err
		}
		if is(st) {
			return st, nil
		}
		if time.Now().After(deadline) {
			return st, fmt.Errorf("not done after %v: %+v", atMost, st)
		}
	}
}

// idle reports whether nothing waits anywhere.
func idle(st api.Status) bool {
	for _, q := range st.Queues {
		if q.Tasks > 0 && q.Queue != subjects.QuarantineStream {
			return false
		}
	}
	return st.Feeds.Out == 0 && st.Feeds.Polled == st.Feeds.Known
}

// pollAll makes all feeds due, and returns how long it took until each was polled.
// It returns when the node is at rest.
func (r *run) pollAll(ctx context.Context) (took time.Duration, err error) {
	since, err := r.farm.count()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	r.clock.add(untilDue)
	if err := r.farm.asked(ctx, since+r.size.feeds); err != nil {
		return 0, err
	}
	return time.Since(began), r.rest(ctx)
}

// untilDue is more than the interval that the bench's nodes have, and than twice
// that, which a feed's second poll may wait. It is short, so that what is done by the
// hour or the day is done about as often as in real life, however often all are made
// due.
const untilDue = 15 * time.Minute

const (
	// restFor is for how long nothing waits where nothing is going on: a status is
	// some seconds old, and work may be between two queues.
	restFor = 3 * time.Second

	// restLoad is the most that a node at rest uses, in percent of a core: an index
	// merges, and stories are told, when all queues are empty.
	restLoad = 20
)

// rest waits until nothing is left to do. Were the clock put forward before, what
// is under way then would be due at another time than all else.
func (r *run) rest(ctx context.Context) error {
	from := usedBy(os.Getpid())
	_, err := r.until(ctx, func(st api.Status) bool {
		now := usedBy(os.Getpid())
		spent := now.since(from)
		if waits := !idle(st); waits || spent.took >= restFor {
			from = now
			return !waits && spent.percent() <= restLoad
		}
		return false
	})
	return err
}

// someFeeds returns the IDs of n feeds.
func (r *run) someFeeds(ctx context.Context, n int) ([]string, error) {
	var ids []string
	for after := ""; len(ids) < n; {
		page, err := r.Feeds(ctx, after, 500)
		if err != nil {
			return nil, err
		}
		for _, f := range page.Feeds {
			ids = append(ids, f.ID)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	return ids[:min(n, len(ids))], nil
}

// doTo does something to feeds of a node, many at a time.
func doTo(ctx context.Context, node *api.Client, what string, ids []string) error {
	for step := range slices.Chunk(ids, 500) {
		done, err := node.ChangeFeeds(ctx, api.FeedBulk{Do: what, IDs: step})
		if err != nil {
			return err
		}
		if done.Failed > 0 {
			return fmt.Errorf("%s: %d of %d feeds failed: %v", what, done.Failed, len(step), done.Reasons)
		}
	}
	return nil
}

// storePath is where a node keeps its store, indexPath its index.
func storePath(dir string) string { return filepath.Join(dir, "store.db") }
func indexPath(dir string) string { return filepath.Join(dir, "index") }
