package mesh_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/trace"
	"feedmesh/agent/trace/tracetest"
	"feedmesh/subjects"
)

// joinTraced joins the mesh with a tracer to a collector. Log lines are
// written to log.
func (r *rig) joinTraced(log *strings.Builder) (*mesh.Mesh, *trace.Tracer, *tracetest.Collector) {
	r.t.Helper()
	c := &tracetest.Collector{}
	web := httptest.NewServer(c)
	r.t.Cleanup(web.Close)
	tracer, err := trace.Open(trace.Options{To: web.URL, Share: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := mesh.Join(r.t.Context(), mesh.Options{
		Agent: "a", Conn: r.connect(), Log: slog.New(slog.NewTextHandler(log, nil)), Trace: tracer, Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return m, tracer, c
}

// run serves the jobs until the queue is empty.
func run(t *testing.T, m *mesh.Mesh, actor mesh.BatchActor[job], size int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	queue := jobs()
	queue.MaxBatch = size
	wait.Go(func() { mesh.ServeBatch(ctx, m, queue, "", actor, 1) })
	eventually(t, "queue empty", func() bool { return pendingCount(t, m, "index") == 0 })
	cancel()
	wait.Wait()
}

// batchFunc is an actor for batches.
type batchFunc func(ctx context.Context, tasks []job) error

func (f batchFunc) ReceiveAll(ctx context.Context, tasks []job) error { return f(ctx, tasks) }

func TestTrace_SpanPerAttempt(t *testing.T) {
	var log strings.Builder
	r := newRig(t)
	m, tracer, c := r.joinTraced(&log)
	ctx, span := tracer.Begin(t.Context(), "begin")
	if err := subjects.Publish(ctx, m, jobs(), job{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	span.End(nil)
	publish(t, m, job{Name: "not traced"})
	tries := map[string]int{}
	run(t, m, batchFunc(func(ctx context.Context, tasks []job) error {
		name := tasks[0].Name
		if traced := trace.ID(ctx) != ""; traced != (name == "x") {
			t.Errorf("%s: traced is %v", name, traced)
		}
		if tries[name]++; name == "not traced" || tries[name] == 3 {
			return nil
		}
		if tries[name] == 2 {
			return mesh.RetryAfter(1, errors.New("not yet"))
		}
		return errors.New("still ill\nwith more")
	}), 1)
	tracer.Close()

	var got []string
	for _, s := range c.Spans() {
		if s.Name != "index" {
			continue
		}
		a := s.Attributes
		if a["feedmesh.queue"] != "index" || a["feedmesh.subject"] != "index" || a["feedmesh.task"] != "x" || a["feedmesh.waited_seconds"] == "" {
			t.Errorf("got %v, want queue, subject, task and waiting time", a)
		}
		got = append(got, strings.Join([]string{a["feedmesh.attempt"], a["feedmesh.verdict"], s.Failure, a["feedmesh.reason"]}, "|"))
	}
	if want := []string{"1|failed|still ill|", "2|later||not yet", "3|done||"}; !slices.Equal(got, want) {
		t.Errorf("got spans %q, want %q", got, want)
	}
	if line := log.String(); strings.Count(line, "\n") != 1 || !strings.Contains(line, "trace_id="+trace.ID(ctx)) {
		t.Errorf("got log %q, want the failure with the trace ID", line)
	}
}

func TestTrace_BatchHasSpanInEachTrace(t *testing.T) {
	var log strings.Builder
	r := newRig(t)
	m, tracer, c := r.joinTraced(&log)
	traces := map[string]string{}
	for _, name := range []string{"one", "two", "three"} {
		ctx, span := tracer.Begin(t.Context(), "begin")
		if err := subjects.Publish(ctx, m, jobs(), job{Name: name}); err != nil {
			t.Fatal(err)
		}
		traces[name] = trace.ID(ctx)
		span.End(nil)
	}
	publish(t, m, job{Name: "not traced"})
	within := ""
	run(t, m, batchFunc(func(ctx context.Context, tasks []job) error {
		within = trace.ID(ctx)
		if len(tasks) != 4 {
			t.Errorf("got a batch of %d, want 4", len(tasks))
		}
		return nil
	}), 10)
	tracer.Close()

	first := ""
	for _, s := range c.Spans() {
		if s.Name != "index" {
			continue
		}
		task := s.Attributes["feedmesh.task"]
		if s.Trace != traces[task] {
			t.Errorf("%s: got trace %s, want %s", task, s.Trace, traces[task])
		}
		delete(traces, task)
		if first == "" {
			first = s.ID
			if s.Trace != within {
				t.Errorf("got the actor in trace %s, want it in %s, of the first task", within, s.Trace)
			}
		} else if !slices.Equal(s.Links, []string{first}) {
			t.Errorf("%s: got links %v, want one to the first, %s", task, s.Links, first)
		}
	}
	if len(traces) != 0 {
		t.Errorf("got no span in the traces of %v", traces)
	}
}

func TestTrace_NoHeaderWithoutTrace(t *testing.T) {
	var log strings.Builder
	r := newRig(t)
	m, tracer, _ := r.joinTraced(&log)
	defer tracer.Close()
	publish(t, m, job{Name: "x"})
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "index")
	if err != nil {
		t.Fatal(err)
	}
	msg, err := stream.GetMsg(t.Context(), stream.CachedInfo().State.LastSeq)
	if err != nil || len(msg.Header) != 1 || msg.Header.Get(jetstream.MsgIDHeader) != "x" {
		t.Errorf("got header %v, %v; want only the ID", msg.Header, err)
	}
}
