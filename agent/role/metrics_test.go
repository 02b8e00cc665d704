package role

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"feedmesh/agent/mesh"
)

// A recorder is a registry that records its collectors.
type recorder struct {
	*prometheus.Registry
	all []prometheus.Collector
}

func (r *recorder) MustRegister(all ...prometheus.Collector) {
	r.Registry.MustRegister(all...)
	r.all = append(r.all, all...)
}

// A metric with labels is not exported before its first event.
func TestMetrics_AreValid(t *testing.T) {
	r := newTestbed(t)
	registry := &recorder{Registry: prometheus.NewRegistry()}
	NewMetrics(registry)
	if _, err := mesh.Join(t.Context(), mesh.Options{Agent: "a", Conn: r.conn, Log: slog.New(slog.DiscardHandler), Metrics: registry}); err != nil {
		t.Fatal(err)
	}
	for _, c := range registry.all {
		for labels := range 4 { // one of these is its number of labels
			values := make([]string, labels)
			switch vec := c.(type) {
			case *prometheus.CounterVec:
				vec.GetMetricWithLabelValues(values...)
			case *prometheus.GaugeVec:
				vec.GetMetricWithLabelValues(values...)
			case *prometheus.HistogramVec:
				vec.GetMetricWithLabelValues(values...)
			}
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != len(registry.all) {
		t.Errorf("got %d metrics, want %d", len(families), len(registry.all))
	}
	var page bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&page, f); err != nil {
			t.Fatal(err)
		}
	}
	faults, err := promlint.New(&page).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Errorf("%s: %s", fault.Metric, fault.Text)
	}
}
