package mesh_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// An agent leaves tasks of a shared queue to others while tasks of a later queue wait for it, because it holds their lease.
func TestIntake_LaterTasksOfALeaseFirst(t *testing.T) {
	r := newRig(t)
	busy, idle := r.join("a"), r.join("b")
	r.running(func(ctx context.Context) error { return busy.WatchAgents(ctx) })
	if err := idle.Heartbeat(t.Context(), subjects.Agent{ID: "b", Roles: []string{"index"}, Schema: subjects.Schema}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other agent is known", func() bool { return busy.Serving("index") == 2 })

	later := subjects.Queue[job]{Name: "views", Timeout: time.Minute, AckWait: time.Second, MaxDeliver: 6, BackOff: jobs().BackOff}
	for i := range 3 {
		if err := subjects.Publish(t.Context(), busy, later, job{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	taken, release := make(chan bool, 3), make(chan bool)
	r.running(func(ctx context.Context) error {
		return busy.Single(ctx, "views", func(ctx context.Context) error {
			return mesh.Serve(ctx, busy, later, "", mesh.ActorFunc[job](func(context.Context, job) error {
				taken <- true
				<-release
				return nil
			}), 1)
		})
	})
	<-taken // and the other two wait

	var byBusy, byIdle atomic.Int32
	count := func(n *atomic.Int32) mesh.ActorFunc[job] {
		return func(context.Context, job) error { n.Add(1); return nil }
	}
	r.serve(busy, count(&byBusy))
	stopIdle := r.serve(idle, count(&byIdle))
	for i := range 20 {
		publish(t, busy, job{Name: fmt.Sprint(i)})
		eventually(t, "it is done", func() bool { return pendingCount(t, busy, "index") == 0 })
	}
	if byBusy.Load() != 0 || byIdle.Load() != 20 {
		t.Errorf("got %d tasks done by the agent with later tasks and %d by the other, want 0 and 20", byBusy.Load(), byIdle.Load())
	}
	stopIdle()
	publish(t, busy, job{Name: "last"})
	for range 3 {
		release <- true
	}
	eventually(t, "the agent takes tasks of the shared queue", func() bool { return byBusy.Load() == 1 })
}

// Few tasks are shared between the agents, though one batch could take all.
func TestIntake_FewTasksAreShared(t *testing.T) {
	r := newRig(t)
	one := r.join("a")
	r.running(func(ctx context.Context) error { return one.WatchAgents(ctx) })
	for _, id := range []string{"b", "c"} {
		if err := one.Heartbeat(t.Context(), subjects.Agent{ID: id, Roles: []string{"index"}, Schema: subjects.Schema}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the other agents are known", func() bool { return one.Serving("index") == 3 })
	const tasks = 10
	for i := range tasks {
		publish(t, one, job{Name: fmt.Sprint(i)})
	}
	release := make(chan bool)
	r.serveBatch(one, tasks, mesh.ActorFunc[job](func(context.Context, job) error { <-release; return nil }))
	taken := func() int {
		consumer, err := r.stream("index").Consumer(t.Context(), jobs().Consumer("").Durable)
		if err != nil {
			return 0 // not created yet
		}
		return consumer.CachedInfo().NumAckPending
	}
	// The first, and a third of the other nine.
	eventually(t, "a batch is taken", func() bool { return taken() >= 4 })
	if n := taken(); n != 4 {
		t.Errorf("got a batch of %d of %d tasks, want 4", n, tasks)
	}
	close(release)
	eventually(t, "all done", func() bool { return pendingCount(t, one, "index") == 0 })
}
