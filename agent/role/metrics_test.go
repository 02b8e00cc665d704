package role

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/api"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage/enginetest"
)

// A recorder is a registry that records its collectors.
type recorder struct {
	*prometheus.Registry
	mu  sync.Mutex
	all []prometheus.Collector
}

func (r *recorder) MustRegister(all ...prometheus.Collector) {
	r.Registry.MustRegister(all...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, all...)
}

func (r *recorder) Register(c prometheus.Collector) error {
	err := r.Registry.Register(c)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, c)
	}
	return err
}

// A metric with labels is not exported before its first event.
func TestMetrics_AreValid(t *testing.T) {
	r := worktest.NewTestbed(t)
	registry := &recorder{Registry: prometheus.NewRegistry()}
	serve := func(context.Context, http.Handler) error { return nil }
	env := &Env{Env: r.Env(r.Mesh), Options: api.Options{Serve: serve, MetricsPage: http.NotFoundHandler()}}
	env.Store, env.Index, env.Metrics, env.Config.PublicURL = enginetest.Store(t), enginetest.Index(t), registry, "http://hub.example"
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, role := range All { // each registers its metrics and ends
		if err := role.Run(ctx, env); err != nil {
			t.Errorf("%s: %v", role.Name, err)
		}
	}
	if _, err := mesh.Join(t.Context(), mesh.Options{Agent: "a", Conn: r.Conn, Log: slog.New(slog.DiscardHandler), Metrics: registry}); err != nil {
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
