package mesh

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	seconds     *prometheus.HistogramVec
	full        *prometheus.CounterVec
	quarantined *prometheus.CounterVec
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
	}
	r.MustRegister(m.seconds, m.full, m.quarantined)
	return m
}
