package schedule

import (
	"context"
	"slices"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// probeEvery is the interval at which due probes of proxies are dispatched.
const probeEvery = 5 * time.Second

// probe publishes a task that probes the due proxies. A lost task needs no retry: its proxies are due again
// soon.
func (s *scheduler) probe(ctx context.Context) error {
	s.mu.Lock()
	now := s.clock.Now()
	due := s.plan.Probes(now)
	s.mu.Unlock()
	if len(due) == 0 || s.crawlersLag(ctx) {
		return nil
	}
	s.mu.Lock()
	s.plan.Probed(due, now)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	task := subjects.Crawl{Tier: subjects.Hot, Probes: due, ProbesDue: now}
	if err := subjects.Publish(ctx, s.mesh, subjects.CrawlQueue, task); err != nil {
		s.log.Warn("proxy probe dispatch failed", "err", err)
	}
	return nil
}

// crawlersLag reports whether the crawl queue is too long for probes, or can't be read, which dispatch logs.
func (s *scheduler) crawlersLag(ctx context.Context) bool {
	depths, err := s.mesh.Depths(ctx)
	return err != nil || slices.ContainsFunc(depths, func(d mesh.Depth) bool {
		return d.Queue == subjects.CrawlQueue.Name && d.Tasks >= maxQueuedCrawls
	})
}
