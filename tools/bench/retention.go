package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/tools/bench/report"
)

// benchRetention measures a node that purges the oldest third of its items while it answers searches and writes.
func benchRetention(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("retention", flag.ContinueOnError)
	b := &retention{run: &run{Report: out, clock: &clock{}}}
	flags.IntVar(&b.items, "items", 3_000_000, "items before the purge")
	flags.DurationVar(&b.before, "before", time.Minute, "duration of the measurement before the purge")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	return b.inFolder(func() error { return b.in(ctx) })
}

// A retention is a node that purges items.
type retention struct {
	*run
	items  int
	before time.Duration
}

func (b *retention) in(ctx context.Context) error {
	old, err := startFeedServer(feedsSize{feeds: 1_000, items: 0, hosts: 1_000})
	if err != nil {
		return err
	}
	defer old.stop()
	f := &filler{dir: b.dir, most: b.items, feeds: old}
	if _, err := f.fill(ctx, b.items); err != nil {
		return err
	}
	c := settings(b.dir)
	c.Keep = storage.Keep{Age: (fillNewest + fillSpan*2/3).Round(24 * time.Hour)}
	if err := b.withNode(ctx, c, b.announced); err != nil {
		return err
	}
	storeBefore, indexBefore := b.sizes()
	b.clock.add(2 * time.Hour) // the announced purge begins at the next start
	if err := b.withNode(ctx, c, b.purged); err != nil {
		return err
	}
	storeAfter, indexAfter := b.sizes()
	b.Add("store before", storeBefore, "MB")
	b.Add("store after", storeAfter, "MB")
	b.Add("index before", indexBefore, "MB")
	b.Add("index after", indexAfter, "MB")
	return nil
}

// announced measures searches before the purge, and waits until it is announced.
func (b *retention) announced(ctx context.Context) error {
	st, err := b.until(ctx, func(now wire.Status) bool { return now.Items == int64(b.items) && idle(now) })
	if err != nil {
		return err
	}
	b.Add("items before", float64(st.Items), "")
	if err := b.untilAnnounced(ctx); err != nil {
		return err
	}
	time.Sleep(10 * time.Second) // the index has merged
	return b.load(ctx, "before: ", func(ctx context.Context) error {
		time.Sleep(b.before)
		return nil
	})
}

// untilAnnounced waits until the items to purge are counted and their purge is announced.
func (b *retention) untilAnnounced(ctx context.Context) error {
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(time.Second) {
		r, err := client.Call(ctx, b.Client, wire.GetRetention, wire.None{})
		if err != nil || !r.Begins.IsZero() {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %v no purge is announced", waitTimeout)
		}
	}
}

// purged measures searches while the items are purged, and waits until the files have shrunk.
func (b *retention) purged(ctx context.Context) error {
	began := time.Now()
	var last wire.Status
	err := b.load(ctx, "during: ", func(ctx context.Context) error {
		for stable := time.Now(); time.Since(stable) < 20*time.Second; time.Sleep(time.Second) {
			st, err := client.Call(ctx, b.Client, wire.GetStatus, wire.None{})
			if err != nil {
				return err
			}
			if st.Items != last.Items || st.Indexed != st.Items || st.Items == int64(b.items) {
				stable = time.Now()
			}
			last = st
		}
		return nil
	})
	took := time.Since(began) - 20*time.Second
	n := float64(b.items) - float64(last.Items)
	b.Add("items purged", n, "")
	b.Add("items purged, rate", n/took.Seconds(), "/s")
	fmt.Fprintf(os.Stderr, "%.0f items purged in %v\n", n, took.Round(time.Second))
	if err != nil {
		return err
	}
	settledSize(b.dir)
	return b.load(ctx, "after: ", func(context.Context) error {
		time.Sleep(b.before)
		return nil
	})
}

// load measures searches and writes during a step.
func (b *retention) load(ctx context.Context, prefix string, during func(context.Context) error) error {
	searches, err := newSearchLoad(ctx, b.Client)
	if err != nil {
		return err
	}
	feeds, err := client.Call(ctx, b.Client, wire.ListFeeds, wire.FeedSearch{Limit: 1})
	if err != nil {
		return err
	}
	loadCtx, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	var writes []time.Duration
	running.Go(func() { searches.search(loadCtx) })
	running.Go(func() { writes = b.writeSettings(loadCtx, feeds.Feeds[0].ID) })
	err = during(ctx)
	end()
	running.Wait()
	searches.rows(b.Report, prefix)
	if len(writes) > 0 {
		t := report.TimingOf(writes)
		b.Add(prefix+"a setting is stored: p50", t.P50.Seconds()*1e3, "ms")
		b.Add(prefix+"a setting is stored: p99", t.P99.Seconds()*1e3, "ms")
		b.Add(prefix+"a setting is stored: longest", writes[len(writes)-1].Seconds()*1e3, "ms") // TimingOf sorts
	}
	return err
}

// writeSettings changes a setting of a feed five times a second, and returns the durations.
func (b *retention) writeSettings(ctx context.Context, feed string) (times []time.Duration) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for pinned := false; ; pinned = !pinned {
		select {
		case <-ctx.Done():
			return times
		case <-tick.C:
		}
		began := time.Now()
		_, err := client.Call(context.WithoutCancel(ctx), b.Client, wire.SetFeed, wire.SetFeedRequest{ID: feed, Body: wire.FeedChange{FullText: &pinned}})
		if err != nil {
			fmt.Fprintln(os.Stderr, "write:", err)
			continue
		}
		times = append(times, time.Since(began))
	}
}

// sizes returns the sizes of store and index in MB, when the node does not run.
func (b *retention) sizes() (store, index float64) {
	info, err := os.Stat(storePath(b.dir))
	if err == nil {
		store = float64(info.Size()) / 1e6
	}
	return store, float64(bytesUnder(indexPath(b.dir))) / 1e6
}
