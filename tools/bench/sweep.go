package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tools/bench/report"
)

// benchSweep measures a node's first polls of feeds, then polls with no, few, and one new item in each feed.
func benchSweep(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("sweep", flag.ContinueOnError)
	r := &run{Report: out, clock: &clock{}, size: feedsSize{feeds: 10_000, items: 20, hosts: 5_000}}
	r.size.flags(flags)
	flags.StringVar(&r.profiles, "profiles", "", "folder for the CPU and heap profiles of each phase")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	return r.inFolder(func() error {
		return r.withFeedServer(func() error {
			err := r.withNode(ctx, settings(r.dir), r.firstSweep, r.unchangedSweeps, r.publish, r.fewChange, r.changedSweep, r.remembers)
			if err == nil {
				r.sizes(r.size.feeds * r.size.items)
			}
			return err
		})
	})
}

// takeIn adds the feeds to the node and waits until all their items are searchable.
func (r *run) takeIn(ctx context.Context) error {
	if err := r.feedServerCPU.addTo(ctx, r.Client); err != nil {
		return err
	}
	_, err := r.until(ctx, func(st wire.Status) bool { return st.Indexed >= int64(r.size.feeds*r.size.items) })
	return err
}

// firstSweep measures from the first feed added to the last item searchable.
func (r *run) firstSweep(ctx context.Context) error {
	p, err := r.measure("first", func() error { return r.takeIn(ctx) })
	if err != nil {
		return err
	}
	items := float64(r.size.feeds * r.size.items)
	r.Aimed("first sweep, to searchable: items", p.rate(items), "/s", ">= 2000")
	r.Aimed("first sweep, to searchable: feeds", p.rate(float64(r.size.feeds)), "/s", ">= 100")
	r.Aimed("first sweep: CPU of the node", p.millis(items), "ms an item", "<= 0.9")
	r.Add("first sweep: load of the node", p.percent(), "% of a core")
	r.Add("first sweep: CPU of the farm", p.feedServerCPU.Seconds()*1e3/items, "ms an item")
	r.Add("first sweep: written to disk", float64(p.written)/items, "bytes an item")
	addShares(r.Report, "first sweep", p.profile, items, "ms an item")
	return nil
}

// rounds is the number of measured unchanged sweeps.
const rounds = 10

// unchangedSweeps measures polls without new items, observations included.
func (r *run) unchangedSweeps(ctx context.Context) error {
	if err := r.rest(ctx); err != nil {
		return err
	}
	began, err := r.feedServerCPU.count()
	if err != nil {
		return err
	}
	var polling time.Duration
	p, err := r.measure("unchanged", func() error {
		for range rounds {
			elapsed, err := r.pollAll(ctx)
			if err != nil {
				return err
			}
			polling += elapsed
		}
		return nil
	})
	if err != nil {
		return err
	}
	ended, err := r.feedServerCPU.count()
	if err != nil {
		return err
	}
	polls := float64(ended - began)
	r.Aimed("unchanged polls", polls/polling.Seconds(), "/s", ">= 8000")
	r.Aimed("unchanged polls: CPU of the node", p.micros(polls), "us a poll", "<= 150")
	r.Add("unchanged polls: CPU of the farm", p.feedServerCPU.Seconds()*1e6/polls, "us a poll")
	r.Aimed("unchanged polls: written to disk", float64(p.written)/polls, "bytes a poll", "<= 1000")
	addShares(r.Report, "unchanged polls", p.profile, polls/1e3, "us a poll")
	return nil
}

// publish publishes one more entry in each feed.
func (r *run) publish(context.Context) error {
	r.size.items++
	return r.feedServerCPU.publish()
}

// fewChange measures the time from fetch to searchable for a few concurrent items.
func (r *run) fewChange(ctx context.Context) error {
	before, err := readMetrics(ctx, r.Address())
	if err != nil {
		return err
	}
	const perSecond, seconds = 20, 15
	ids, err := r.someFeeds(ctx, min(perSecond*seconds, r.size.feeds/2))
	if err != nil {
		return err
	}
	_, err = r.measure("few", func() error {
		tick := time.NewTicker(time.Second / perSecond)
		defer tick.Stop()
		for _, id := range ids {
			<-tick.C
			if _, err := client.Call(ctx, r.Client, wire.RefreshFeed, wire.ByID{ID: id}); err != nil {
				return err
			}
		}
		return r.rest(ctx)
	})
	if err != nil {
		return err
	}
	after, err := readMetrics(ctx, r.Address())
	if err != nil {
		return err
	}
	lag := after.histogram(indexLag).since(before.histogram(indexLag))
	r.Aimed("fetched to searchable, 20 documents a second: p50", lag.quantile(0.50), "s", "<= 0.3")
	r.Aimed("fetched to searchable, 20 documents a second: p99", lag.quantile(0.99), "s", "<= 2")
	return nil
}

// indexLag is the metric of the time of items from fetch to searchable.
const indexLag = "feedmesh_index_lag_seconds"

// changedSweep measures polls with one new item in each feed, until the last of them is searchable.
func (r *run) changedSweep(ctx context.Context) error {
	st, err := client.Call(ctx, r.Client, wire.GetStatus, wire.None{})
	if err != nil {
		return err
	}
	all := int64(r.size.feeds * r.size.items)
	p, err := r.measure("changed", func() error {
		r.clock.add(untilDue) // all feeds become due together
		_, err := r.until(ctx, func(st wire.Status) bool { return st.Indexed >= all })
		return err
	})
	if err != nil {
		return err
	}
	items := float64(all - st.Indexed)
	r.Aimed("one new item in each feed, to searchable: feeds", p.rate(items), "/s", ">= 1000")
	r.Aimed("one new item in each feed: CPU of the node", p.millis(items), "ms an item", "<= 2")
	r.Add("one new item in each feed: CPU of the farm", p.feedServerCPU.Seconds()*1e3/items, "ms an item")
	r.Aimed("one new item in each feed: written to disk", float64(p.written)/items, "bytes an item", "<= 60000")
	addShares(r.Report, "one new item in each feed", p.profile, items, "ms an item")
	return nil
}

// remembers measures the memory of the process.
func (r *run) remembers(context.Context) error {
	r.Add("memory of the process (RSS), at most", float64(memoryOf(os.Getpid(), "VmHWM"))/1e6, "MB")
	r.Add("memory of the process (RSS), at the end", float64(memoryOf(os.Getpid(), "VmRSS"))/1e6, "MB")
	return nil
}

// sizes measures the node's files on disk.
func (r *run) sizes(items int) {
	for _, part := range []struct{ name, path string }{{"store", "store.db"}, {"index", "index"}, {"queues and schedule", "nats"}} {
		size := bytesUnder(filepath.Join(r.dir, part.path))
		r.Add("on disk: "+part.name, float64(size)/float64(items), "bytes an item")
	}
}
