package mesh

import (
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
	"feedmesh/subjects"
)

type metrics struct {
	seconds     *prometheus.HistogramVec
	full        *prometheus.CounterVec
	quarantined *prometheus.CounterVec
	active      *prometheus.GaugeVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "feedmesh_task_seconds",
			Help:    "Duration of task attempts by result: done, dropped, later, failed.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2, 10, 60},
		}, []string{"role", "verdict"}),
		full:        metric.Counters(r, "feedmesh_queue_full_total", "Publish retries because a queue was full.", "queue"),
		quarantined: metric.Counters(r, "feedmesh_quarantined_total", "Tasks put into quarantine after all their deliveries failed.", "queue"),
		active:      metric.Gauges(r, "feedmesh_active", "Whether this agent holds the lease and runs the active actor: 1 if active, 0 on standby.", "lease"),
	}
	r.MustRegister(m.seconds)
	// Export 0 before the first event, so that it shows as an increase.
	for _, queue := range subjects.QueueNames {
		m.full.WithLabelValues(queue)
		m.quarantined.WithLabelValues(queue)
	}
	return m
}
