package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
	"feedmesh/tools/bench/report"
)

// benchCrawl measures the speed of a node's polls, and the memory of feeds.
func benchCrawl(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("crawl", flag.ContinueOnError)
	r := &run{Report: out, clock: &clock{}, size: feedsSize{feeds: 50_000, items: 1, hosts: 5_000}}
	r.size.flags(flags)
	scheduled := flags.Int("scheduled", 1_000_000, "number of feeds to schedule without polling")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	err := r.inFolder(func() error {
		return r.withFeedServer(func() error {
			return r.withNode(ctx, settings(r.dir), r.takeIn, r.unchangedSweeps, r.publish, r.changedSweep, func(context.Context) error {
				r.remembersFeeds(r.size.feeds, "polled")
				return nil
			})
		})
	})
	if err != nil {
		return err
	}
	return r.inFolder(func() error { return r.scheduleOnly(ctx, *scheduled) })
}

// remembersFeeds adds a row with the memory in use.
func (r *run) remembersFeeds(feeds int, how string) {
	debug.FreeOSMemory()
	r.Add(fmt.Sprintf("memory with %d feeds %s (RSS)", feeds, how), float64(memoryOf(os.Getpid(), "VmRSS"))/1e6, "MB")
}

// scheduleOnly measures a node with scheduled feeds without polls: with new feeds, and after a restart.
func (r *run) scheduleOnly(ctx context.Context, feeds int) error {
	url := func(i int) string { return fmt.Sprintf("http://host%d.example/feed/%d", i/10, i) }
	store, err := sqlite.Open(ctx, storePath(r.dir))
	if err != nil {
		return err
	}
	if err := errors.Join(fillStore(ctx, store, feeds, url), store.Close()); err != nil {
		return err
	}
	for _, how := range []string{"new", "known before"} {
		began := time.Now()
		c := settings(r.dir)
		c.Roles = []string{"schedule", "store", "api"}
		err := r.withNode(ctx, c, func(ctx context.Context) error {
			if err := r.untilScheduled(ctx, feeds); err != nil {
				return err
			}
			r.Add(fmt.Sprintf("%d feeds, %s, are scheduled after the start within", feeds, how), time.Since(began).Seconds(), "s")
			r.remembersFeeds(feeds, "scheduled, "+how)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// untilScheduled waits until the schedule contains a number of feeds.
func (r *run) untilScheduled(ctx context.Context, feeds int) error {
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(time.Second) {
		m, err := readMetrics(ctx, r.Address())
		if err != nil {
			return err
		}
		registered := m.sum("feedmesh_feeds", notFailing)
		if registered >= float64(feeds) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %v only %v of %d feeds are scheduled", waitTimeout, registered, feeds)
		}
	}
}

// fillStore adds feeds that were never polled, with these URLs, to a store.
func fillStore(ctx context.Context, store storage.Store, feeds int, url func(i int) string) error {
	const chunk = 1000
	for first := 0; first < feeds; first += chunk {
		list := make([]storage.Feed, 0, chunk)
		for i := first; i < min(first+chunk, feeds); i++ {
			at := url(i)
			list = append(list, storage.Feed{ID: storage.FeedID(at), URL: at, Added: time.Now()})
		}
		if _, err := store.AddFeeds(ctx, list...); err != nil {
			return err
		}
	}
	return nil
}
