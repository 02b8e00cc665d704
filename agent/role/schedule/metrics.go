package schedule

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
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
		feeds:         metric.Gauges(r, "feedmesh_feeds", "Feeds in the schedule, by its partition, their tier and state.", "partition", "tier", "state"),
		overdue:       metric.Gauges(r, "feedmesh_overdue_feeds", "Due feeds that are not dispatched yet, by partition of the schedule.", "partition"),
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

// clear resets the gauges of the active schedule of a partition when it steps down, so that a stale replica does not export
// them.
func (m *metrics) clear(partition int) {
	labels := prometheus.Labels{"partition": strconv.Itoa(partition)}
	m.feeds.DeletePartialMatch(labels)
	m.overdue.DeletePartialMatch(labels)
	if partition == 0 {
		m.clearQueues()
	}
}

func (m *metrics) clearQueues() {
	m.queuePending.Reset()
	m.queueOldest.Reset()
}
