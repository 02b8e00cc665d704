package role

import (
	"context"
	"slices"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// probeEvery is how often proxies are looked for that are to be probed.
const probeEvery = 5 * time.Second

// probe has a crawler probe the proxies of which it is time to know whether they
// work. A task that is lost is no loss: its proxies are soon probed again.
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
	task := subjects.Crawl{Tier: subjects.Hot, Ways: due, Asked: now}
	if err := subjects.Publish(ctx, s.mesh, subjects.Crawls, task); err != nil {
		s.log.Warn("proxies are not probed", "err", err)
	}
	return nil
}

// crawlersLag reports whether so much waits for crawlers that probes would only
// add to it, or the queues can't be looked at, of which dispatch tells.
func (s *scheduler) crawlersLag(ctx context.Context) bool {
	depths, err := s.mesh.Depths(ctx)
	return err != nil || slices.ContainsFunc(depths, func(d mesh.Depth) bool {
		return d.Queue == subjects.Crawls.Name && d.Tasks >= crawlAhead
	})
}
