package mesh

import (
	"github.com/prometheus/client_golang/prometheus"

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
			Help:    "Time that an attempt at a task took, by how it ended: done, dropped, later, failed.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2, 10, 60},
		}, []string{"role", "verdict"}),
		full: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmesh_queue_full_total",
			Help: "Times that a publisher had to wait because a queue was full.",
		}, []string{"queue"}),
		quarantined: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "feedmesh_quarantined_total",
			Help: "Tasks put into quarantine after all their tries.",
		}, []string{"queue"}),
		active: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "feedmesh_active",
			Help: "Whether this agent holds a lease, and so is the one active actor of its name: 1 or, where it stands by, 0.",
		}, []string{"lease"}),
	}
	r.MustRegister(m.seconds, m.full, m.quarantined, m.active)
	// What has not happened yet is told as 0, so that its first time shows as an
	// increase.
	for _, queue := range subjects.QueueNames {
		m.full.WithLabelValues(queue)
		m.quarantined.WithLabelValues(queue)
	}
	return m
}
