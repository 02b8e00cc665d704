package main

import (
	"math"
	"net/http/httptest"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestMetrics_QuantileCountsNewObservations(t *testing.T) {
	registry := prometheus.NewRegistry()
	lag := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "lag", Buckets: []float64{1, 2, 4}})
	fetches := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fetches"}, []string{"outcome"})
	registry.MustRegister(lag, fetches)
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	read := func() metrics {
		m, err := readMetrics(t.Context(), server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for range 100 {
		lag.Observe(3) // before the measurement
	}
	before := read()
	for range 50 {
		lag.Observe(0.5)
	}
	for range 45 {
		lag.Observe(1.5)
	}
	for range 5 {
		lag.Observe(9)
	}
	fetches.WithLabelValues("fetched").Add(3)
	fetches.WithLabelValues("unchanged").Add(4)
	after := read()
	h := after.histogram("lag").since(before.histogram("lag"))
	if h.total() != 100 {
		t.Errorf("got %v values, want 100", h.total())
	}
	for q, want := range map[float64]float64{0.25: 0.5, 0.5: 1, 0.725: 1.5, 0.95: 2, 0.99: 4} {
		if got := h.quantile(q); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v of all: got %v, want %v", q, got, want)
		}
	}
	if got := before.histogram("lag").since(before.histogram("lag")).quantile(0.5); !math.IsNaN(got) {
		t.Errorf("of nothing: got %v, want NaN", got)
	}
	if got := after.sum("fetches", all); got != 7 {
		t.Errorf("got %v fetches, want 7", got)
	}
	unchanged := func(labels map[string]string) bool { return labels["outcome"] == "unchanged" }
	if got := after.sum("fetches", unchanged); got != 4 {
		t.Errorf("got %v unchanged, want 4", got)
	}
}

func TestProfile_SampleHasRoleAndPackage(t *testing.T) {
	sample := func(role string, functions ...string) *profile.Sample {
		s := &profile.Sample{}
		for _, name := range functions { // innermost first
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		if role != "" {
			s.Label = map[string][]string{"role": {role}}
		}
		return s
	}
	for _, c := range []struct {
		sample     *profile.Sample
		role, from string
	}{
		{sample("store", "runtime.memmove", "github.com/ncruces/go-sqlite3.(*Stmt).Step", "feedmesh/storage/sqlite.(*Store).PutItems"), "role store", "github.com/ncruces/go-sqlite3"},
		{sample("", "runtime.futex", "github.com/nats-io/nats-server/v2/server.(*client).readLoop"), "NATS server", "github.com/nats-io/nats-server"},
		{sample("", "net/http.(*conn).serve", "github.com/nats-io/nats%2ego.(*Conn).Publish"), "NATS client", "github.com/nats-io/nats.go"},
		{sample("parse", "feedmesh/subjects.Queue[go.shape.struct { feedmesh/subjects.Document }].Encode"), "role parse", "feedmesh/subjects"},
		{sample("", "encoding/json.Marshal", "feedmesh/agent/role.(*scheduler).dispatch", "feedmesh/agent/mesh.(*Mesh).Single"), "role schedule", "feedmesh/agent/role"},
		{sample("", "runtime.gcDrain", "runtime.gcBgMarkWorker"), "garbage collection", "garbage collection"},
		{sample("", "runtime.findRunnable", "runtime.schedule"), "Go scheduler and the rest", "Go itself"},
	} {
		if got := roleOf(c.sample); got != c.role {
			t.Errorf("got role %q, want %q", got, c.role)
		}
		if got := packageOf(c.sample); got != c.from {
			t.Errorf("got package %q, want %q", got, c.from)
		}
	}
}
