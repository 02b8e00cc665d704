package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/pprof/profile"

	"feedmesh/agent/client"
	"feedmesh/agent/node"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/subjects"
	"feedmesh/tools/bench/report"
)

// A run is one node under measurement, in this process, so that one profile covers all of it and its clock
// can be advanced.
type run struct {
	*client.Client
	*report.Report
	feedServerCPU *remoteFeeds
	clock         *clock
	size          feedsSize
	dir           string // its data
	profiles      string // folder of stored profiles; empty: none
}

// A clock can be advanced to make feeds due.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time      { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) add(d time.Duration) { c.ahead.Add(int64(d)) }

// settings returns the settings of the node: without request limits of hosts, and with an interval after
// which all feeds are due.
func settings(dir string) config.Config {
	c := config.Default()
	c.Data, c.Listen, c.Starter = dir, "127.0.0.1:0", false
	c.AllowNet = config.Networks("127.0.0.0/8")
	c.Schedule.HostSpacing, c.Schedule.Policy, c.Schedule.Interval = 0, "uniform", 5*time.Minute
	return c
}

// inFolder runs a step with a separate data folder.
func (r *run) inFolder(do func() error) error {
	return inFolder(func(dir string) error {
		r.dir = dir
		return do()
	})
}

// withFeedServer runs a step while feeds of the run's size are served.
func (r *run) withFeedServer(do func() error) (err error) {
	if r.feedServerCPU, err = startFeedServer(r.size); err != nil {
		return err
	}
	defer r.feedServerCPU.stop()
	return do()
}

// withNode runs a node with these settings, executes the steps in order, and stops the node.
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

// start runs the node and returns the channel of its result.
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
		r.Client, err = client.NewClient("http://"+addr, "")
		return ended, err
	case err := <-ended:
		return nil, fmt.Errorf("the node did not start: %w", err)
	}
}

// A phase contains the costs of a part of a run.
type phase struct {
	usagePeriod
	feedServerCPU time.Duration // CPU time of the feed server
	profile       *profile.Profile
}

// measure runs and measures a step. With a name, and a folder for profiles, it stores the CPU profile and the
// final heap.
func (r *run) measure(name string, do func() error) (p phase, err error) {
	var cpu bytes.Buffer
	if err := pprof.StartCPUProfile(&cpu); err != nil {
		return p, err
	}
	feedServerCPU, before := processorTime(r.feedServerCPU.process.ID()), usedBy(os.Getpid())
	err = do()
	p.usagePeriod, p.feedServerCPU = usedBy(os.Getpid()).since(before), processorTime(r.feedServerCPU.process.ID())-feedServerCPU
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
	return errors.Join(storeProfile(r.profiles, name+".cpu", cpu.Write), storeProfile(r.profiles, name+".heap", pprof.WriteHeapProfile))
}

// waitTimeout is the timeout of each wait.
const waitTimeout = time.Hour

// until waits until the node's status meets a condition.
func (r *run) until(ctx context.Context, is func(wire.Status) bool) (wire.Status, error) {
	return until(ctx, r.Client, 200*time.Millisecond, is)
}

// until requests the node's status at intervals until it meets a condition.
func until(ctx context.Context, node *client.Client, pause time.Duration, is func(wire.Status) bool) (wire.Status, error) {
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(pause) {
		st, err := client.Call(ctx, node, wire.GetStatus, wire.None{})
		if err != nil {
			return st, err
		}
		if is(st) {
			return st, nil
		}
		if time.Now().After(deadline) {
			return st, fmt.Errorf("not done after %v: %+v", waitTimeout, st)
		}
	}
}

// idle reports whether all queues are empty.
func idle(st wire.Status) bool {
	for _, q := range st.Queues {
		if q.Tasks > 0 && q.Queue != subjects.QuarantineStream {
			return false
		}
	}
	return st.Feeds.InFlight == 0 && st.Feeds.Polled == st.Feeds.Stored
}

// pollAll makes all feeds due, and returns the time until each was polled. It returns when the node is at
// rest.
func (r *run) pollAll(ctx context.Context) (elapsed time.Duration, err error) {
	since, err := r.feedServerCPU.count()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	r.clock.add(untilDue)
	if err := r.feedServerCPU.waitRequests(ctx, since+r.size.feeds); err != nil {
		return 0, err
	}
	return time.Since(began), r.rest(ctx)
}

// untilDue is more than twice the polling interval, which is the maximum delay of a feed's second poll. It is
// short, so that hourly and daily jobs run about as often as in production, even though all feeds are made
// due often.
const untilDue = 15 * time.Minute

const (
	// restFor is the time with empty queues after which a node counts as at rest: a status is some seconds
	// old, and work may be between two queues.
	restFor = 3 * time.Second

	// restLoad is the maximum CPU load of a node at rest, in percent of a core: with empty queues, the index
	// may still merge and stories may still be summarized.
	restLoad = 20
)

// rest waits until all work is finished. If the clock were advanced earlier, work in progress would be due at
// another time than the rest.
func (r *run) rest(ctx context.Context) error {
	from := usedBy(os.Getpid())
	_, err := until(ctx, r.Client, time.Second, func(st wire.Status) bool { // a status costs as much as twenty polls
		now := usedBy(os.Getpid())
		spent := now.since(from)
		if busy := !idle(st); busy || spent.elapsed >= restFor {
			from = now
			return !busy && spent.percent() <= restLoad
		}
		return false
	})
	return err
}

// someFeeds returns the IDs of n feeds.
func (r *run) someFeeds(ctx context.Context, n int) ([]string, error) {
	var ids []string
	for after := ""; len(ids) < n; {
		page, err := client.Call(ctx, r.Client, wire.ListFeeds, wire.FeedSearch{After: after, Limit: 500})
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

// doTo applies an operation to feeds of a node, in batches.
func doTo(ctx context.Context, node *client.Client, what string, ids []string) error {
	for step := range slices.Chunk(ids, 500) {
		done, err := client.ChangeFeeds(ctx, node, wire.BulkChange{Action: what, IDs: step})
		if err != nil {
			return err
		}
		if done.Failed > 0 {
			return fmt.Errorf("%s: %d of %d feeds failed: %v", what, done.Failed, len(step), done.Reasons)
		}
	}
	return nil
}

// storePath is the path of a node's store, indexPath that of its index.
func storePath(dir string) string { return filepath.Join(dir, "store.db") }
func indexPath(dir string) string { return filepath.Join(dir, "index") }
