package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

var errAway = errors.New("the store is away")

// serveAway serves the jobs with one worker that treats errAway as unavailable.
func serveAway(t *testing.T, r *rig, actor mesh.ActorFunc[job]) (m *mesh.Mesh, stop func()) {
	t.Helper()
	m, err := mesh.Join(t.Context(), mesh.Options{
		Agent: "a", Conn: r.connect(), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Unavailable: func(err error) bool { return errors.Is(err, errAway) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mesh.Serve(ctx, m, jobs(), "", actor, 1) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		done <- nil
	}
	t.Cleanup(stop)
	return m, stop
}

func TestUnavailable_TaskWaitsInWorker(t *testing.T) {
	r := newRig(t)
	var tried, other atomic.Int32
	m, _ := serveAway(t, r, func(_ context.Context, j job) error {
		if j.Name == "other" {
			other.Add(1)
			return nil
		}
		if tried.Add(1) < 3 {
			if other.Load() > 0 {
				t.Error("got another task while the worker waits")
			}
			return fmt.Errorf("store: %w", errAway)
		}
		return nil
	})
	publish(t, m, job{Name: "x"}, job{Name: "other"})
	eventually(t, "both are done", func() bool { return pendingCount(t, m, "index") == 0 })
	if spent := r.deliveries(); tried.Load() != 3 || other.Load() != 1 || spent != 2 {
		t.Errorf("got %d attempts, %d of the other, %d deliveries; want 3, 1, and one delivery each", tried.Load(), other.Load(), spent)
	}
}

func TestUnavailable_StopReturnsWaitingTask(t *testing.T) {
	r := newRig(t)
	taken := make(chan bool, 1)
	m, stop := serveAway(t, r, func(context.Context, job) error {
		select {
		case taken <- true:
		default:
		}
		return errAway
	})
	publish(t, m, job{Name: "x"})
	<-taken
	began := time.Now()
	stop()
	if took := time.Since(began); took > 30*time.Second { // without the stop it would wait for ever
		t.Errorf("stopped after %v, want immediately", took)
	}
}

// A task of a newer schema is deferred to newer agents; if none takes it, its
// defined fields are processed.
func TestSchema_NewerTaskIsDeferred(t *testing.T) {
	r := newRig(t)
	done := make(chan job, 1)
	serveAway(t, r, func(_ context.Context, j job) error { done <- j; return nil })
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Appendf(nil, `{"schema":%d,"task":{"name":"x","news":1}}`, subjects.Schema+1)
	began := time.Now()
	if _, err := js.Publish(t.Context(), "index", body, jetstream.WithMsgID("x")); err != nil {
		t.Fatal(err)
	}
	select {
	case j := <-done:
		if took := time.Since(began); took < time.Second || j.Name != "x" {
			t.Errorf("got %+v after %v, want x after three deferrals", j, took)
		}
	case <-time.After(time.Minute):
		t.Error("timeout: task not processed within a minute")
	}
}
