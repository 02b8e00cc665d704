// Package metric creates and registers Prometheus metrics. A metric that is registered already is shared, so
// that several roles of a process, and a role that becomes active again, use one.
package metric

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Counter returns the registered counter of that name.
func Counter(r prometheus.Registerer, name, help string) prometheus.Counter {
	return register(r, prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help}))
}

// Counters returns the registered counters of that name, by labels.
func Counters(r prometheus.Registerer, name, help string, labels ...string) *prometheus.CounterVec {
	return register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}

// Gauges returns the registered gauges of that name, by labels.
func Gauges(r prometheus.Registerer, name, help string, labels ...string) *prometheus.GaugeVec {
	return register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels))
}

// Seconds returns the registered histogram of that name, of durations from 10 ms to 30 min.
func Seconds(r prometheus.Registerer, name, help string) prometheus.Histogram {
	return register(r, prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help,
		Buckets: []float64{.01, .05, .1, .25, .5, 1, 2, 5, 15, 60, 300, 1800}}))
}

func register[C prometheus.Collector](r prometheus.Registerer, c C) C {
	err := r.Register(c)
	if e := (prometheus.AlreadyRegisteredError{}); errors.As(err, &e) {
		return e.ExistingCollector.(C)
	}
	if err != nil {
		panic(err) // two metrics of one name: an error in the program
	}
	return c
}
