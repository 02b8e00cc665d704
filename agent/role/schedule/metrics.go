package schedule

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
	"feedmesh/agent/role/schedule/policy"
	"feedmesh/subjects"
)

// metrics are the metrics of the schedule.
type metrics struct {
	feeds         *prometheus.GaugeVec
	overdue       *prometheus.GaugeVec
	queuePending  *prometheus.GaugeVec
	queueOldest   *prometheus.GaugeVec
	stepDowns     prometheus.Counter
	dispatchHolds *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		feeds:         metric.Gauges(r, "feedmesh_feeds", "Feeds in the schedule, by tier and state.", "tier", "state"),
		overdue:       metric.Gauges(r, "feedmesh_overdue_feeds", "Due feeds that are not dispatched yet."),
		queuePending:  metric.Gauges(r, "feedmesh_queue_pending", "Tasks waiting on a queue or in progress.", "queue"),
		queueOldest:   metric.Gauges(r, "feedmesh_queue_oldest_seconds", "Age of the oldest task on a queue.", "queue"),
		stepDowns:     metric.Counter(r, "feedmesh_step_downs_total", "Times that this process stepped down as an active actor."),
		dispatchHolds: metric.Counters(r, "feedmesh_dispatch_held_total", "Times that due feeds of a tier were held back because of a long queue.", "tier"),
	}
	for _, tier := range subjects.Tiers { // counters start at 0, so that the first event shows as an increase
		m.dispatchHolds.WithLabelValues(tier)
	}
	return m
}

// clear resets the gauges of the active schedule when it steps down, so that a stale replica does not export
// them.
func (m *metrics) clear() {
	m.feeds.Reset()
	m.overdue.Reset()
	m.clearQueues()
}

func (m *metrics) clearQueues() {
	m.queuePending.Reset()
	m.queueOldest.Reset()
}

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

func (s *scheduler) measureFeeds() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
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
