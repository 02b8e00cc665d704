package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// handfuls returns the queue of jobs for workers that take so many at once.
func handfuls(n int) subjects.Queue[job] {
	queue := jobs()
	queue.Hand = n
	return queue
}

// next returns a queue for what follows from jobs, on the stream of a role whose
// tasks these tests have no use for.
func next() subjects.Queue[job] {
	return subjects.Queue[job]{Name: "prepare", Lease: 2 * time.Second, Silence: time.Second, Tries: 6, BackOff: []time.Duration{10 * time.Millisecond}}
}

// serveHand has one worker serve the jobs until the test or stop ends.
func (r *rig) serveHand(m *mesh.Mesh, hand int, actor mesh.Actor[job]) (stop func()) {
	return r.running(func(ctx context.Context) error { return mesh.Serve(ctx, m, handfuls(hand), "", actor, 1) })
}

// stream returns a stream as it is now.
func (r *rig) stream(name string) jetstream.Stream {
	r.t.Helper()
	js, err := jetstream.New(r.connect())
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := js.Stream(r.t.Context(), name)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// on returns the names of the tasks that wait on a stream, in order.
func (r *rig) on(stream string) (names []string) {
	r.t.Helper()
	s := r.stream(stream)
	state := s.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		msg, err := s.GetMsg(r.t.Context(), seq)
		if err != nil {
			continue
		}
		parts, err := subjects.Unbundle(msg.Data)
		if err != nil {
			r.t.Error(err)
		}
		if parts == nil {
			parts = []subjects.Part{{ID: msg.Header.Get(jetstream.MsgIDHeader)}}
		}
		for _, part := range parts {
			names = append(names, part.ID)
		}
	}
	return names
}

// takeAndDie takes all there is, as an agent does that then dies.
func (r *rig) takeAndDie() {
	r.t.Helper()
	js, err := jetstream.New(r.connect())
	if err != nil {
		r.t.Fatal(err)
	}
	consumer, err := js.CreateConsumer(r.t.Context(), "index", jobs().Consumer(""))
	if err != nil {
		r.t.Fatal(err)
	}
	taken, err := consumer.FetchNoWait(100)
	if err != nil {
		r.t.Fatal(err)
	}
	for range taken.Messages() {
	}
}

// follow is an actor whose every task has another follow from it, and then fails
// if it is bad.
func follow(m *mesh.Mesh) mesh.ActorFunc[job] {
	return func(ctx context.Context, j job) error {
		if err := subjects.Publish(ctx, m, next(), job{Name: "after " + j.Name}); err != nil {
			return err
		}
		if j.Kind == "bad" {
			return errors.New("bad")
		}
		return nil
	}
}

func TestWhatFollowsFromAHandfulIsPublishedInOrderButNotOfWhatFailed(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	var want []string
	for i := range 30 {
		j := job{Name: fmt.Sprintf("%02d", i)}
		if i == 7 {
			j.Kind = "bad"
		} else {
			want = append(want, "after "+j.Name)
		}
		publish(t, m, j)
	}
	r.serveHand(m, 20, follow(m))
	eventually(t, "all but the bad one done", func() bool { return m.Done() == 29 })
	eventually(t, "the bad one in quarantine", func() bool { return waiting(t, m, subjects.QuarantineStream) == 1 })
	if n := waiting(t, m, "index"); n != 0 {
		t.Errorf("got %d tasks left, want none", n)
	}
	if got := r.on("prepare"); !slices.Equal(got, want) {
		t.Errorf("got %q to follow, want %q", got, want)
	}
}

func TestNoTaskIsSettledBeforeWhatFollowsIsSafe(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	room := func(n int64) { // in messages: a bundle is one
		stream, err := js.Stream(t.Context(), "prepare")
		if err != nil {
			t.Fatal(err)
		}
		cfg := stream.CachedInfo().Config
		cfg.MaxMsgs = n
		if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	room(1)
	if err := subjects.Publish(t.Context(), m, next(), job{Name: "in the way"}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		publish(t, m, job{Name: fmt.Sprint(i)})
	}
	r.serveHand(m, 10, follow(m))
	// It takes longer than the server waits for a sign of life, and more than once.
	time.Sleep(2500 * time.Millisecond)
	if n := waiting(t, m, "index"); n != 10 {
		t.Errorf("got %d tasks on the queue, want all 10 while what follows has no room", n)
	}
	room(100)
	eventually(t, "all done", func() bool { return waiting(t, m, "index") == 0 })
	got := r.on("prepare")
	slices.Sort(got)
	if len(got) < 11 || len(slices.Compact(got)) != 11 {
		t.Errorf("got %q to follow, want each of 10", got)
	}
}

// bundle publishes the jobs in one message.
func bundle(t *testing.T, m *mesh.Mesh, js ...job) {
	t.Helper()
	var messages []subjects.Message
	for _, j := range js {
		message, err := jobs().Message(j, subjects.Schema)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, message)
	}
	if err := m.Publish(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	if n := waiting(t, m, "index"); n != 1 {
		t.Fatalf("got %d messages, want one", n)
	}
}

func numbered(n, bad int) (js []job) {
	for i := range n {
		js = append(js, job{Name: fmt.Sprintf("%02d", i), Kind: map[bool]string{true: "bad"}[i == bad]})
	}
	return js
}

func TestATaskThatFailsInABundleHasItsTriesAlone(t *testing.T) {
	for _, test := range []struct {
		name  string
		serve func(context.Context, *mesh.Mesh)
	}{
		{"one by one", func(ctx context.Context, m *mesh.Mesh) { mesh.Serve(ctx, m, handfuls(4), "", follow(m), 1) }},
		{"at once", func(ctx context.Context, m *mesh.Mesh) {
			mesh.ServeBatch(ctx, m, handfuls(4), "", &batcher{done: map[string]int{}}, 1)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			m := r.join("a")
			bundle(t, m, numbered(20, 7)...)
			ctx, cancel := context.WithCancel(t.Context())
			var wait sync.WaitGroup
			wait.Go(func() { test.serve(ctx, m) })
			eventually(t, "the bad one in quarantine", func() bool { return waiting(t, m, subjects.QuarantineStream) == 1 })
			eventually(t, "nothing left", func() bool { return waiting(t, m, "index") == 0 })
			cancel()
			wait.Wait()
			if m.Done() != 19 {
				t.Errorf("got %d done, want 19, each once", m.Done())
			}
			q, err := m.QuarantinedTask(t.Context(), 1)
			if err != nil || q.Task != "07" {
				t.Errorf("got %+v, %v; want task 07", q, err)
			}
		})
	}
}

func TestABundleThatAnAgentDiedOfIsTakenApart(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	bundle(t, m, numbered(20, -1)...)
	r.takeAndDie()
	r.serveHand(m, 4, follow(m))
	eventually(t, "all done", func() bool { return m.Done() == 20 })
	eventually(t, "nothing left", func() bool { return waiting(t, m, "index") == 0 }) // acknowledged after it is done
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "index")
	if err != nil {
		t.Fatal(err)
	}
	if last := stream.CachedInfo().State.LastSeq; last != 21 {
		t.Errorf("got %d messages over all, want 21: the bundle, and each task alone", last)
	}
}

func TestAPartThatCantBeReadDoesNotTakeItsBundleWithIt(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	good, err := jobs().Message(job{Name: "good"}, subjects.Schema)
	if err != nil {
		t.Fatal(err)
	}
	bad := subjects.Message{Subject: "index", ID: "bad", Data: []byte(`{"schema":2,"task":"no job"}`)}
	if err := m.Publish(t.Context(), good, bad); err != nil {
		t.Fatal(err)
	}
	r.serveHand(m, 4, follow(m))
	eventually(t, "the good one done", func() bool { return m.Done() == 1 })
	eventually(t, "the bad one in quarantine", func() bool { return waiting(t, m, subjects.QuarantineStream) == 1 })
}

func TestMoreFollowsThanAnOutboxHolds(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	for i := range 6 {
		publish(t, m, job{Name: fmt.Sprint(i)})
	}
	large := string(make([]byte, 300<<10)) // six bytes each in JSON
	r.serveHand(m, 6, mesh.ActorFunc[job](func(ctx context.Context, j job) error {
		return subjects.Publish(ctx, m, next(), job{Name: "after " + j.Name, Kind: large})
	}))
	eventually(t, "all done", func() bool { return waiting(t, m, "index") == 0 })
	got := r.on("prepare")
	slices.Sort(got)
	if len(slices.Compact(got)) != 6 { // on a slow machine some come again
		t.Errorf("got %q, want 6", got)
	}
}

// batched has one worker do all that waits, ten messages at once.
func (r *rig) batched(m *mesh.Mesh) *batcher {
	r.t.Helper()
	b := &batcher{done: map[string]int{}}
	stop := r.running(func(ctx context.Context) error { return mesh.ServeBatch(ctx, m, handfuls(10), "", b, 1) })
	eventually(r.t, "all done", func() bool { return waiting(r.t, m, "index") == 0 })
	stop()
	return b
}

// What an agent died of comes again with all that it had in hand.
func TestWhatComesAgainIsDoneByItself(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	for i := range 10 {
		publish(t, m, job{Name: fmt.Sprint(i)})
	}
	r.takeAndDie()
	b := r.batched(m)
	if slices.Max(b.sizes) != 1 || len(b.done) != 10 {
		t.Errorf("got %d done in hands of %v, want 10, one by one", len(b.done), b.sizes)
	}
}

// What is decoded takes several times what travels, and there are many hands.
func TestAHandHoldsFewLargeMessages(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	for i := range 20 {
		publish(t, m, job{Name: fmt.Sprint(i), Kind: strings.Repeat("x", 700<<10)})
	}
	b := r.batched(m)
	if slices.Max(b.sizes) != 2 || len(b.done) != 20 {
		t.Errorf("got %d done in hands of %v, want 20, two of 0.7 MB at once", len(b.done), b.sizes)
	}
}
