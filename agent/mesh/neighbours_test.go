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

// direct returns the queue of what follows from jobs, for who does it at once.
func direct() subjects.Queue[job] {
	queue := next()
	queue.Direct, queue.Hand = true, 20
	return queue
}

// last returns the queue of what follows from that.
func last() subjects.Queue[job] {
	queue := next()
	queue.Name = "store"
	return queue
}

// send is an actor for whose every task another goes to a queue.
func send(m *mesh.Mesh, to subjects.Queue[job]) mesh.ActorFunc[job] {
	return func(ctx context.Context, j job) error {
		return subjects.Publish(ctx, m, to, job{Name: to.Name + " " + j.Name, Kind: j.Kind})
	}
}

// serveNext has two workers serve what follows from jobs, until the test or stop
// ends.
func (r *rig) serveNext(m *mesh.Mesh, actor mesh.Actor[job]) (stop func()) {
	return r.running(func(ctx context.Context) error { return mesh.Serve(ctx, m, direct(), "", actor, 2) })
}

// travelled returns how many messages a stream has ever had.
func (r *rig) travelled(stream string) uint64 {
	r.t.Helper()
	return r.stream(stream).CachedInfo().State.LastSeq
}

// serving waits until an actor of the queue of what follows is there.
func (r *rig) serving() {
	r.t.Helper()
	s := r.stream("prepare")
	eventually(r.t, "the next role serves", func() bool {
		_, err := s.Consumer(r.t.Context(), "prepare")
		return err == nil
	})
}

func TestWhatFollowsIsDoneInTheSameHandAndNoMessageTravels(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	r.serveNext(m, send(m, last()))
	r.serving()
	var want []string
	for i := range 50 {
		publish(t, m, job{Name: fmt.Sprintf("%02d", i)})
		want = append(want, fmt.Sprintf("store prepare %02d", i))
	}
	r.serveHand(m, 20, send(m, direct()))
	eventually(t, "all done", func() bool { return m.Done() == 100 && waiting(t, m, "index") == 0 })
	if n := r.travelled("prepare"); n != 0 {
		t.Errorf("got %d messages of the role between, want none", n)
	}
	got := r.on("store")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q in the end, want %q", got, want)
	}
}

func TestWhatFollowsAndFailsHasItsTriesOnItsOwnQueue(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	var tries atomic.Int32
	r.serveNext(m, mesh.ActorFunc[job](func(ctx context.Context, j job) error {
		switch {
		case j.Kind == "drop":
			return mesh.Drop(errors.New("nobody needs it"))
		case j.Kind == "panic" && tries.Add(1) < 3:
			panic("at first")
		}
		return send(m, last())(ctx, j)
	}))
	r.serving()
	publish(t, m, job{Name: "1"}, job{Name: "2", Kind: "panic"}, job{Name: "3", Kind: "drop"}, job{Name: "4"})
	r.serveHand(m, 20, send(m, direct()))
	eventually(t, "three stored", func() bool { return waiting(t, m, "store") > 0 && len(r.on("store")) == 3 })
	if n := tries.Load(); n != 3 {
		t.Errorf("got %d tries of the one that failed, want 3", n)
	}
	if n := r.travelled("prepare"); n != 1 {
		t.Errorf("got %d messages of the role between, want that of the one that failed", n)
	}
	if n := waiting(t, m, subjects.QuarantineStream) + waiting(t, m, "index") + waiting(t, m, "prepare"); n != 0 {
		t.Errorf("got %d tasks that wait somewhere else, want none", n)
	}
}

func TestWhatFollowsFromATaskThatComesAgainTravels(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	r.serveNext(m, send(m, last()))
	r.serving()
	publish(t, m, job{Name: "1"})
	r.takeAndDie()
	r.serveHand(m, 20, send(m, direct()))
	eventually(t, "it is stored", func() bool { return waiting(t, m, "store") == 1 })
	if n := r.travelled("prepare"); n != 1 {
		t.Errorf("got %d messages of the role between, want 1: its agent may have died of it", n)
	}
}

func TestAnAgentThatGetsNoOtherWorkIsLeftItsShare(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go m.WatchAgents(ctx)
	r.serveNext(m, send(m, last()))
	r.serving()
	r.serveHand(m, 20, send(m, direct()))
	other := r.join("b")
	n := 0
	next := func() uint64 {
		before := r.travelled("prepare")
		publish(t, m, job{Name: fmt.Sprint(n)})
		n++
		eventually(t, "it is stored", func() bool { return waiting(t, m, "store") == uint64(n) })
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
		if err := other.Beat(t.Context(), subjects.Agent{ID: "b", Roles: c.roles, Schema: subjects.Schema}); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("%d messages where the other plays %q", c.travelled, c.roles), func() bool { return next() == c.travelled })
	}
}

func TestWhoHasLeftIsGivenNothingAndLeavesWithEmptyHands(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	began, finish := make(chan bool, 2), make(chan bool)
	stop := r.serveNext(m, mesh.ActorFunc[job](func(ctx context.Context, j job) error {
		began <- true
		<-finish
		return send(m, last())(ctx, j)
	}))
	r.serving()
	r.serveHand(m, 20, send(m, direct()))
	publish(t, m, job{Name: "1"})
	<-began
	left := make(chan bool)
	go func() { stop(); close(left) }()
	select {
	case <-left:
		t.Fatal("it left with a task in its hands")
	case <-time.After(300 * time.Millisecond):
	}
	close(finish)
	<-left
	publish(t, m, job{Name: "2"})
	eventually(t, "the second waits for another", func() bool { return waiting(t, m, "prepare") == 1 })
	if got := r.on("store"); !slices.Equal(got, []string{"store prepare 1"}) {
		t.Errorf("got %q stored, want the first", got)
	}
}
