package main

import (
	"context"
	"fmt"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/simulate"
	"feedmesh/storage"
)

// probes are feeds that a node is asked to poll as soon as they have published, so
// that the time until the item is found is all but the delay of polling.
type probes struct {
	*remoteFarm
	size   farmSize
	times  []time.Duration
	failed int // were not found within [probeLasts]
}

const (
	probeEvery = 5 * time.Second
	probeLasts = 30 * time.Second
	probePause = 50 * time.Millisecond // between two looks
)

// startProbes starts a farm for so many probes.
func startProbes(n int) (*probes, error) {
	size := farmSize{feeds: max(1, n), items: 1, hosts: max(1, n)}
	farm, err := startFarm(size)
	return &probes{remoteFarm: farm, size: size}, err
}

// run has one feed after the other publish an item, until ctx ends.
func (p *probes) run(ctx context.Context, node *api.Client) error {
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

// probe has all feeds publish, and waits until the i-th one's item is found.
func (p *probes) probe(ctx context.Context, node *api.Client, i int, url string) error {
	if err := p.publish(); err != nil {
		return err
	}
	began := time.Now()
	word := simulate.Mark(i, p.size.items+i) // each probe before this one published too
	if err := node.RefreshFeed(ctx, storage.FeedID(url)); err != nil {
		return fmt.Errorf("refresh %s: %w", url, err)
	}
	for time.Since(began) < probeLasts {
		found, err := node.Search(ctx, api.Search{Query: word, Duplicates: true, Limit: 1})
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

// rows adds how long it took.
func (p *probes) rows(out *report) {
	const what = "published to searchable, of a feed polled at once"
	if p.failed > 0 {
		out.failed(what, fmt.Sprintf("%d were not found within %v", p.failed, probeLasts))
	}
	if len(p.times) == 0 {
		return
	}
	t := timingOf(p.times)
	out.add(what+": p50", t.p50.Seconds(), "s")
	out.add(what+": p95", p.times[len(p.times)*95/100].Seconds(), "s")
	out.add(what+": p99", t.p99.Seconds(), "s")
}
