package main

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/tools/bench/report"
)

// probes are feeds that are polled immediately after publishing, so that the time until the item is
// searchable excludes the delay of polling.
type probes struct {
	*remoteFeeds
	size   feedsSize
	times  []time.Duration
	failed int // not searchable within [probeLasts]
}

const (
	probeEvery = 5 * time.Second
	probeLasts = 30 * time.Second
	probePause = 50 * time.Millisecond // between two searches
)

// startProbes starts a feed server for a number of probes.
func startProbes(n int) (*probes, error) {
	size := feedsSize{feeds: max(1, n), items: 1, hosts: max(1, n)}
	feedServer, err := startFeedServer(size)
	return &probes{remoteFeeds: feedServer, size: size}, err
}

// run publishes an item in one feed after another, until ctx ends.
func (p *probes) run(ctx context.Context, node *client.Client) error {
	for i, url := range p.urls {
		next := time.Now().Add(probeEvery)
		if err := p.probe(ctx, node, i, url); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(next)):
		}
	}
	return nil
}

// probe publishes in all feeds, and waits until the i-th feed's item is searchable.
func (p *probes) probe(ctx context.Context, node *client.Client, i int, url string) error {
	if err := p.publish(); err != nil {
		return err
	}
	began := time.Now()
	word := simulate.UniqueWord(i, p.size.items+i) // each earlier probe published too
	if _, err := client.Call(ctx, node, wire.RefreshFeed, wire.ByID{ID: storage.FeedID(url)}); err != nil {
		return fmt.Errorf("refresh %s: %w", url, err)
	}
	for time.Since(began) < probeLasts {
		found, err := client.Call(ctx, node, wire.SearchItems, wire.Search{Query: word, Duplicates: true, Limit: 1})
		if err != nil {
			return err
		}
		if len(found.Items) > 0 {
			p.times = append(p.times, time.Since(began))
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(probePause):
		}
	}
	p.failed++
	return nil
}

// rows adds the latencies.
func (p *probes) rows(out *report.Report) {
	const what = "published to searchable, of a feed polled at once"
	if p.failed > 0 {
		out.Failed(what, fmt.Sprintf("%d were not found within %v", p.failed, probeLasts))
	}
	if len(p.times) == 0 {
		return
	}
	t := report.TimingOf(p.times)
	out.Add(what+": p50", t.P50.Seconds(), "s")
	out.Add(what+": p95", p.times[len(p.times)*95/100].Seconds(), "s")
	out.Add(what+": p99", t.P99.Seconds(), "s")
}
