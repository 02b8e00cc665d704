package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
	"feedmesh/tools/bench/report"
)

// benchSteady measures a node with default settings, as a separate process, that reads feeds which publish
// like real ones; and its restart with them.
func benchSteady(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("steady", flag.ContinueOnError)
	s := &steady{Report: out, size: webSize{feeds: 50_000, hosts: 5_000, window: 10, rate: 3}}
	s.size.flags(flags)
	flags.DurationVar(&s.lasts, "for", 10*time.Minute, "duration of the measurement")
	flags.StringVar(&s.profiles, "profiles", "", "folder for the CPU profile")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	return inFolder(func(dir string) error { return s.in(ctx, dir) })
}

// A steady is a node that reads such feeds.
type steady struct {
	*report.Report
	size     webSize
	lasts    time.Duration
	profiles string
	web      *remoteWeb
	probes   *probes
	agent    *agent
}

// in measures a node with its data in a folder.
func (s *steady) in(ctx context.Context, dir string) error {
	program, err := buildAgent(ctx, dir)
	if err != nil {
		return err
	}
	if s.web, err = startWeb(ctx, s.size); err != nil {
		return err
	}
	defer s.web.process.Kill()
	if s.probes, err = startProbes(int(s.lasts / probeEvery)); err != nil {
		return err
	}
	defer s.probes.stop()
	if s.agent, err = newAgent(program, filepath.Join(dir, "data")); err != nil {
		return err
	}
	defer s.agent.process.Kill()
	return s.run(ctx)
}

func (s *steady) run(ctx context.Context) error {
	if _, err := s.agent.start(); err != nil {
		return err
	}
	if err := s.takeIn(ctx); err != nil {
		return err
	}
	if err := s.measure(ctx); err != nil {
		return err
	}
	if err := s.agent.stop(); err != nil {
		return err
	}
	elapsed, err := s.agent.start()
	if err != nil {
		return err
	}
	s.Aimed(fmt.Sprintf("cold start to ready, %d feeds known", s.size.feeds), elapsed.Seconds(), "s", "<= 3")
	return s.agent.stop()
}

// takeIn adds all feeds to the node, and waits until each was read and all queues are empty.
func (s *steady) takeIn(ctx context.Context) error {
	began := time.Now()
	if err := s.web.addTo(ctx, s.agent.Client); err != nil {
		return err
	}
	if err := s.probes.addTo(ctx, s.agent.Client); err != nil {
		return err
	}
	st, err := until(ctx, s.agent.Client, time.Second, isTakenIn)
	if err != nil {
		return err
	}
	s.Add("before: feeds taken in", float64(st.Feeds.Stored), "")
	s.Add("before: items taken in", float64(st.Items), "")
	s.Add("before: all of that within", time.Since(began).Minutes(), "min")
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.Add("before: and its stories summarised within", time.Since(began).Minutes(), "min")
	return nil
}

const (
	// settledAt is the rate of reindexed items a second, beside new ones, below which the stories of the
	// first items count as summarized. New items also cause summaries.
	settledAt = 50

	// settledFor is the time for which that must hold: summaries of large stories are delayed by half of it.
	settledFor = time.Minute
)

// settle waits until the node has summarized the stories of the first items.
func (s *steady) settle(ctx context.Context) error {
	before, err := readMetrics(ctx, s.agent.health)
	if err != nil {
		return err
	}
	for range waitTimeout / settledFor {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settledFor):
		}
		now, err := readMetrics(ctx, s.agent.health)
		if err != nil {
			return err
		}
		reindexed := now.since(before, "feedmesh_items_indexed_total") - now.since(before, "feedmesh_items_stored_total")
		if reindexed <= settledAt*settledFor.Seconds() {
			return nil
		}
		before = now
	}
	return fmt.Errorf("stories are still summarized after %v", waitTimeout)
}

// isTakenIn reports whether the feeds were read, but those of rate-limited hosts, which come later, and no queue has old tasks.
func isTakenIn(st wire.Status) bool {
	unread := st.Feeds.Stored - st.Feeds.Polled
	return unread <= st.Feeds.Stored/1000 && calm(st)
}

// calm reports whether no queue has old tasks, though new tasks may arrive. A crawl task lasts until the
// slowest of its many hosts has answered.
func calm(st wire.Status) bool {
	for _, q := range st.Queues {
		if q.Oldest > 2 && q.Queue != subjects.QuarantineStream && q.Queue != subjects.CrawlQueue.Name {
			return false
		}
	}
	return len(st.Problems) == 0
}

// measure measures the node for a while under search load.
func (s *steady) measure(ctx context.Context) error {
	ended, cancel := context.WithTimeout(ctx, s.lasts)
	defer cancel()
	load, err := newSearchLoad(ctx, s.agent.Client)
	if err != nil {
		return err
	}
	before, err := readMetrics(ctx, s.agent.health)
	if err != nil {
		return err
	}
	used := s.agent.usage()
	var watch memoryWatch
	var cpu cpuWatch
	group, _ := errgroup.WithContext(ctx)
	group.Go(func() error { load.search(ended); return nil })
	group.Go(func() error { watch.run(ended, s.agent.process.ID()); return nil })
	group.Go(func() error { return cpu.run(ended, s.agent.health) })
	group.Go(func() error { return s.probes.run(ended, s.agent.Client) })
	if err := group.Wait(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	spent := s.agent.usage().since(used)
	after, err := readMetrics(ctx, s.agent.health)
	if err != nil {
		return err
	}
	s.lags(before, after)
	s.costs(before, after, spent)
	s.Aimed("memory (RSS), on average", watch.mean(), "MB", "<= 450")
	s.Aimed("memory (RSS), at most", slices.Max(watch.all), "MB", "<= 600")
	load.rows(s.Report, "")
	if ledger, err := s.web.ledger(ctx); err == nil && ledger.MeanDelay > 0 {
		s.Add("published to fetched, on average: the delay of polling", ledger.MeanDelay/60, "min")
	}
	addShares(s.Report, "steady state", cpu.merged, 10*cpu.covered.Seconds(), "% of a core")
	return storeProfile(s.profiles, "steady.cpu", cpu.merged.Write)
}

// lags adds latencies.
func (s *steady) lags(before, after metrics) {
	since := func(name string) histogram { return after.histogram(name).since(before.histogram(name)) }
	searchable, due := since(indexLag), since("feedmesh_feed_lag_seconds")
	s.Aimed("fetched to searchable: p50", searchable.quantile(0.50), "s", "<= 0.3")
	s.Add("fetched to searchable: p95", searchable.quantile(0.95), "s")
	s.Aimed("fetched to searchable: p99", searchable.quantile(0.99), "s", "<= 2")
	s.Add("due to fetched: p50", due.quantile(0.50), "s")
	s.Add("due to fetched: p95", due.quantile(0.95), "s")
	s.Add("due to fetched: p99", due.quantile(0.99), "s")
	s.probes.rows(s.Report)
}

// costs adds throughputs and costs.
func (s *steady) costs(before, after metrics, spent usagePeriod) {
	items := after.since(before, "feedmesh_items_stored_total")
	s.Add("polls", spent.rate(after.since(before, "feedmesh_fetch_total")), "/s")
	s.Add("new items", spent.rate(items), "/s")
	s.Aimed("CPU of the node, searches included", spent.percent(), "% of a core", "<= 15")
	s.Aimed("written to disk", float64(spent.written)/spent.elapsed.Seconds()/1e3, "kB/s", "<= 250")
	s.Add("written to disk, by new items", float64(spent.written)/items/1e3, "kB an item")
}
