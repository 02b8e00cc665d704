package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// direct returns the queue of follow-up tasks with local delivery.
func direct() subjects.Queue[job] {
	queue := next()
	queue.AllowLocal, queue.MaxBatch = true, 20
	return queue
}

// last returns the queue of their follow-up tasks.
func last() subjects.Queue[job] {
	queue := next()
	queue.Name = "store"
	return queue
}

// send is an actor that publishes a task to a queue for each task.
func send(m *mesh.Mesh, to subjects.Queue[job]) mesh.ActorFunc[job] {
	return func(ctx context.Context, j job) error {
		return subjects.Publish(ctx, m, to, job{Name: to.Name + " " + j.Name, Kind: j.Kind})
	}
}

// serveNext serves the follow-up tasks with two workers until stop is called or the
// test ends.
func (r *rig) serveNext(m *mesh.Mesh, actor mesh.Actor[job]) (stop func()) {
	return r.running(func(ctx context.Context) error { return mesh.Serve(ctx, m, direct(), "", actor, 2) })
}

// travelled returns the number of messages ever published to a stream.
func (r *rig) travelled(stream string) uint64 {
	r.t.Helper()
	return r.stream(stream).CachedInfo().State.LastSeq
}

// serving waits until an actor serves the queue of follow-up tasks.
func (r *rig) serving() {
	r.t.Helper()
	s := r.stream("prepare")
	eventually(r.t, "the next role serves", func() bool {
		_, err := s.Consumer(r.t.Context(), "prepare")
		return err == nil
	})
}

func TestPipeline_FollowUpWithoutMessage(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	r.serveNext(m, send(m, last()))
	r.serving()
	var want []string
	for i := range 50 {
		publish(t, m, job{Name: fmt.Sprintf("%02d", i)})
		want = append(want, fmt.Sprintf("store prepare %02d", i))
	}
	r.serveBatch(m, 20, send(m, direct()))
	eventually(t, "all done", func() bool { return m.Done() == 100 && pendingCount(t, m, "index") == 0 })
	if n := r.travelled("prepare"); n != 0 {
		t.Errorf("got %d messages on the intermediate queue, want none", n)
	}
	got := r.on("store")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got final tasks %q, want %q", got, want)
	}
}

func TestPipeline_FailedFollowUpIsRetriedOnItsQueue(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	var tries atomic.Int32
	r.serveNext(m, mesh.ActorFunc[job](func(ctx context.Context, j job) error {
		switch {
		case j.Kind == "drop":
			return mesh.Discard(errors.New("nobody needs it"))
		case j.Kind == "panic" && tries.Add(1) < 3:
			panic("at first")
		}
		return send(m, last())(ctx, j)
	}))
	r.serving()
	publish(t, m, job{Name: "1"}, job{Name: "2", Kind: "panic"}, job{Name: "3", Kind: "drop"}, job{Name: "4"})
	r.serveBatch(m, 20, send(m, direct()))
	eventually(t, "three stored", func() bool { return pendingCount(t, m, "store") > 0 && len(r.on("store")) == 3 })
	if n := tries.Load(); n != 3 {
		t.Errorf("got %d attempts of the failed task, want 3", n)
	}
	if n := r.travelled("prepare"); n != 1 {
		t.Errorf("got %d messages on the intermediate queue, want only the failed task", n)
	}
	if n := pendingCount(t, m, subjects.QuarantineStream) + pendingCount(t, m, "index") + pendingCount(t, m, "prepare"); n != 0 {
		t.Errorf("got %d tasks on other queues, want none", n)
	}
}

func TestPipeline_RedeliveredTaskPublishesFollowUps(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	r.serveNext(m, send(m, last()))
	r.serving()
	publish(t, m, job{Name: "1"})
	r.takeAndDie()
	r.serveBatch(m, 20, send(m, direct()))
	eventually(t, "it is stored", func() bool { return pendingCount(t, m, "store") == 1 })
	if n := r.travelled("prepare"); n != 1 {
		t.Errorf("got %d messages on the intermediate queue, want 1: the task may have crashed its agent", n)
	}
}

func TestPipeline_PublishesForAgentsWithoutRootQueue(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go m.WatchAgents(ctx)
	r.serveNext(m, send(m, last()))
	r.serving()
	r.serveBatch(m, 20, send(m, direct()))
	other := r.join("b")
	n := 0
	next := func() uint64 {
		before := r.travelled("prepare")
		publish(t, m, job{Name: fmt.Sprint(n)})
		n++
		eventually(t, "it is stored", func() bool { return pendingCount(t, m, "store") == uint64(n) })
		return r.travelled("prepare") - before
	}
	for _, c := range []struct {
		roles     []string
		travelled uint64
	}{
		{[]string{"prepare"}, 1},
		{[]string{"index", "prepare"}, 0}, // has its share of what this follows from
		{[]string{"store"}, 0},
	} {
		if err := other.Heartbeat(t.Context(), subjects.Agent{ID: "b", Roles: c.roles, Schema: subjects.Schema}); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("%d messages where the other plays %q", c.travelled, c.roles), func() bool { return next() == c.travelled })
		if n, want := m.Serving(c.roles[0]), 2; n != want {
			t.Errorf("got %d agents that serve %s, want %d", n, c.roles[0], want)
		}
	}
}

func TestPipeline_KeepsTheSchemaOfOlderAgents(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go m.WatchAgents(ctx)
	r.serveNext(m, send(m, last()))
	r.serving()
	r.serveBatch(m, 20, send(m, direct()))
	older := subjects.Agent{ID: "b", Roles: []string{"index", "prepare"}, Schema: subjects.Schema - 1}
	if err := r.join("b").Heartbeat(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the older agent is known", func() bool { return m.Schema(t.Context()) == older.Schema })
	publish(t, m, job{Name: "1"})
	eventually(t, "it is stored", func() bool { return pendingCount(t, m, "store") == 1 })
	if n := r.travelled("prepare"); n != 0 {
		t.Errorf("got %d messages on the intermediate queue, want none", n)
	}
	stored, err := r.stream("store").GetMsg(t.Context(), 1)
	if err != nil || subjects.SchemaOf(stored.Data) != older.Schema {
		t.Errorf("got %s, %v; want schema %d", stored.Data, err, older.Schema)
	}
}

func TestPipeline_UnregisterWaitsForHandler(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	began, finish := make(chan bool, 2), make(chan bool)
	stop := r.serveNext(m, mesh.ActorFunc[job](func(ctx context.Context, j job) error {
		began <- true
		<-finish
		return send(m, last())(ctx, j)
	}))
	r.serving()
	r.serveBatch(m, 20, send(m, direct()))
	publish(t, m, job{Name: "1"})
	<-began
	left := make(chan bool)
	go func() { stop(); close(left) }()
	select {
	case <-left:
		t.Fatal("unregister returned while a task was in progress")
	case <-time.After(300 * time.Millisecond):
	}
	close(finish)
	<-left
	publish(t, m, job{Name: "2"})
	eventually(t, "the second waits for another", func() bool { return pendingCount(t, m, "prepare") == 1 })
	if got := r.on("store"); !slices.Equal(got, []string{"store prepare 1"}) {
		t.Errorf("got stored tasks %q, want the first", got)
	}
}
