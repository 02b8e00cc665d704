package role

import (
	"context"

	"feedmesh/agent/policy"
	"feedmesh/subjects"
)

// measure sets the gauges of what the mesh has only one of. The active schedule
// tells them alone, so that they may be summed over all agents.
func (s *scheduler) measure(ctx context.Context) error {
	s.measureFeeds()
	ctx, cancel := context.WithTimeout(ctx, measureEvery)
	defer cancel()
	depths, err := s.mesh.Depths(ctx)
	if err != nil {
		s.metrics.forgetQueues() // readiness tells of it
		return nil
	}
	for _, d := range depths {
		s.metrics.queuePending.WithLabelValues(d.Queue).Set(float64(d.Tasks))
		s.metrics.queueOldest.WithLabelValues(d.Queue).Set(d.Oldest)
	}
	return nil
}

// tellCounts tells all who ask how the mesh is how many feeds are how: else each of
// them would have to read the state of every feed.
func (s *scheduler) tellCounts(context.Context) error {
	s.mu.Lock()
	counts := s.plan.Counts()
	s.mu.Unlock()
	s.mesh.TellCounts(&counts)
	return nil
}

func (s *scheduler) measureFeeds() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for i, tier := range subjects.Tiers {
		tally := s.plan.Tally(policy.Tier(i))
		s.metrics.feeds.WithLabelValues(tier, "waiting").Set(float64(tally.Waiting))
		s.metrics.feeds.WithLabelValues(tier, "out").Set(float64(tally.Out))
		s.metrics.feeds.WithLabelValues(tier, "failing").Set(float64(tally.Failing))
	}
	s.metrics.overdue.WithLabelValues().Set(float64(s.plan.Overdue(now)))
	s.tellOutage()
}

// tellOutage logs when our own network seems to go down, and when it is back.
func (s *scheduler) tellOutage() {
	since := s.plan.Outage()
	switch down := !since.IsZero(); {
	case down && !s.outage:
		s.log.Warn("hardly any host answers: our own network seems to be down; polling pauses, and failures are not counted", "since", since)
	case !down && s.outage:
		s.log.Info("hosts answer again: polling goes on")
	}
	s.outage = !since.IsZero()
}
