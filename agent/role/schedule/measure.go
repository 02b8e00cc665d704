package schedule

import (
	"context"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/subjects"
)

// measure sets the mesh-wide gauges. Only the active schedule exports them, so that they can be summed over
// all agents.
func (s *scheduler) measure(ctx context.Context) error {
	s.measureFeeds()
	ctx, cancel := context.WithTimeout(ctx, measureEvery)
	defer cancel()
	depths, err := s.mesh.Depths(ctx)
	if err != nil {
		s.metrics.clearQueues() // readiness reports it
		return nil
	}
	for _, d := range depths {
		s.metrics.queuePending.WithLabelValues(d.Queue).Set(float64(d.Tasks))
		s.metrics.queueOldest.WithLabelValues(d.Queue).Set(d.Oldest)
	}
	return nil
}

// publishCounts publishes the feed counts for mesh status requests, which otherwise would read the state of
// every feed.
func (s *scheduler) publishCounts(context.Context) error {
	s.mu.Lock()
	counts := s.plan.Counts()
	s.mu.Unlock()
	s.mesh.SetFeedCounts(&counts)
	return nil
}

func (s *scheduler) measureFeeds() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for i, tier := range subjects.Tiers {
		tally := s.plan.TierCounts(policy.Tier(i))
		s.metrics.feeds.WithLabelValues(tier, "waiting").Set(float64(tally.Waiting))
		s.metrics.feeds.WithLabelValues(tier, "out").Set(float64(tally.InFlight))
		s.metrics.feeds.WithLabelValues(tier, "failing").Set(float64(tally.Failing))
	}
	s.metrics.overdue.WithLabelValues().Set(float64(s.plan.Overdue(now)))
	s.logOutage()
}

// logOutage logs the start and the end of a network outage.
func (s *scheduler) logOutage() {
	since := s.plan.Outage()
	switch down := !since.IsZero(); {
	case down && !s.outage:
		s.log.Warn("network outage started, polling paused", "since", since)
	case !down && s.outage:
		s.log.Info("network outage ended, polling resumed")
	}
	s.outage = !since.IsZero()
}
