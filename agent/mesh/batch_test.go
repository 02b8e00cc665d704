package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// batchQueue returns the queue of jobs with batches of n.
func batchQueue(n int) subjects.Queue[job] {
	queue := jobs()
	queue.MaxBatch = n
	return queue
}

// next returns a queue for follow-up tasks of jobs, on the stream of a role that
// these tests do not use.
func next() subjects.Queue[job] {
	return subjects.Queue[job]{Name: "prepare", Timeout: 2 * time.Second, AckWait: time.Second, MaxDeliver: 6, BackOff: []time.Duration{10 * time.Millisecond}}
}

// serveBatch serves the jobs with one worker until stop is called or the test ends.
func (r *rig) serveBatch(m *mesh.Mesh, size int, actor mesh.Actor[job]) (stop func()) {
	return r.running(func(ctx context.Context) error { return mesh.Serve(ctx, m, batchQueue(size), "", actor, 1) })
}

// stream returns the current state of a stream.
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

// on returns the names of the tasks on a stream, in order.
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

// takeAndDie fetches all messages without settling them, like an agent that crashes. It returns how often the last of
// them was delivered; 0 if there was none.
func (r *rig) takeAndDie() (deliveries int) {
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
	for msg := range taken.Messages() {
		meta, err := msg.Metadata()
		if err != nil {
			r.t.Fatal(err)
		}
		deliveries = int(meta.NumDelivered)
	}
	return deliveries
}

// follow is an actor that publishes a follow-up for each task, and then fails
// if the task is bad.
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

func TestBatch_PublishesFollowUpsInOrderWithoutFailedTasks(t *testing.T) {
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
	r.serveBatch(m, 20, follow(m))
	eventually(t, "all but the bad one done", func() bool { return m.Done() == 29 })
	eventually(t, "the bad one in quarantine", func() bool { return pendingCount(t, m, subjects.QuarantineStream) == 1 })
	if n := pendingCount(t, m, "index"); n != 0 {
		t.Errorf("got %d tasks left, want none", n)
	}
	if got := r.on("prepare"); !slices.Equal(got, want) {
		t.Errorf("got follow-ups %q, want %q", got, want)
	}
}

func TestBatch_SettlesAfterFollowUpsAreStored(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	setMaxMsgs := func(n int64) { // in messages: a bundle is one
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
	setMaxMsgs(1)
	if err := subjects.Publish(t.Context(), m, next(), job{Name: "in the way"}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		publish(t, m, job{Name: fmt.Sprint(i)})
	}
	var calls atomic.Int32
	r.serveBatch(m, 10, mesh.ActorFunc[job](func(ctx context.Context, j job) error {
		calls.Add(1)
		return follow(m)(ctx, j)
	}))
	eventually(t, "the batch has failed and is delivered again", func() bool { return calls.Load() > 10 })
	if n := pendingCount(t, m, "index"); n != 10 {
		t.Errorf("got %d tasks on the queue, want all 10 while the next queue is full", n)
	}
	setMaxMsgs(100)
	eventually(t, "all done", func() bool { return pendingCount(t, m, "index") == 0 })
	got := r.on("prepare")
	slices.Sort(got)
	if len(got) < 11 || len(slices.Compact(got)) != 11 {
		t.Errorf("got follow-ups %q, want 10", got)
	}
}

// bundle publishes the jobs in one message.
func bundle(t *testing.T, m *mesh.Mesh, js ...job) {
	t.Helper()
	var messages []subjects.Message
	for _, j := range js {
		messages = append(messages, jobs().Message(j))
	}
	if err := m.Publish(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	if n := pendingCount(t, m, "index"); n != 1 {
		t.Fatalf("got %d messages, want 1", n)
	}
}

func numbered(n, bad int) (js []job) {
	for i := range n {
		js = append(js, job{Name: fmt.Sprintf("%02d", i), Kind: map[bool]string{true: "bad"}[i == bad]})
	}
	return js
}

func TestBundle_FailedTaskIsRetriedAlone(t *testing.T) {
	for _, test := range []struct {
		name  string
		serve func(context.Context, *mesh.Mesh)
	}{
		{"single tasks", func(ctx context.Context, m *mesh.Mesh) { mesh.Serve(ctx, m, batchQueue(4), "", follow(m), 1) }},
		{"batches", func(ctx context.Context, m *mesh.Mesh) {
			mesh.ServeBatch(ctx, m, batchQueue(4), "", &batcher{done: map[string]int{}}, 1)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			m := r.join("a")
			bundle(t, m, numbered(20, 7)...)
			ctx, cancel := context.WithCancel(t.Context())
			var wait sync.WaitGroup
			wait.Go(func() { test.serve(ctx, m) })
			eventually(t, "the bad one in quarantine", func() bool { return pendingCount(t, m, subjects.QuarantineStream) == 1 })
			eventually(t, "nothing left", func() bool { return pendingCount(t, m, "index") == 0 })
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

func TestBundle_RedeliveredIsSplit(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	bundle(t, m, numbered(20, -1)...)
	r.takeAndDie()
	r.serveBatch(m, 4, follow(m))
	eventually(t, "all done", func() bool { return m.Done() == 20 })
	eventually(t, "nothing left", func() bool { return pendingCount(t, m, "index") == 0 }) // acknowledged after it is done
	js, err := jetstream.New(r.connect())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "index")
	if err != nil {
		t.Fatal(err)
	}
	if last := stream.CachedInfo().State.LastSeq; last != 21 {
		t.Errorf("got %d messages in total, want 21: the bundle, and each task alone", last)
	}
}

func TestBundle_UnreadablePartDoesNotFailOthers(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	good := jobs().Message(job{Name: "good"})
	bad := subjects.Message{Subject: "index", ID: "bad", Data: []byte(`{"schema":2,"task":"no job"}`)}
	if err := m.Publish(t.Context(), good, bad); err != nil {
		t.Fatal(err)
	}
	r.serveBatch(m, 4, follow(m))
	eventually(t, "the good one done", func() bool { return m.Done() == 1 })
	eventually(t, "the bad one in quarantine", func() bool { return pendingCount(t, m, subjects.QuarantineStream) == 1 })
}

func TestOutbox_PublishesWhenFull(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	for i := range 6 {
		publish(t, m, job{Name: fmt.Sprint(i)})
	}
	large := string(make([]byte, 300<<10)) // six bytes each in JSON
	actor := mesh.ActorFunc[job](func(ctx context.Context, j job) error {
		return subjects.Publish(ctx, m, next(), job{Name: "after " + j.Name, Kind: large})
	})
	queue := batchQueue(6)
	queue.Timeout, queue.AckWait = time.Minute, 10*time.Second // large tasks are slow
	r.running(func(ctx context.Context) error { return mesh.Serve(ctx, m, queue, "", actor, 1) })
	eventually(t, "all done", func() bool { return pendingCount(t, m, "index") == 0 })
	got := r.on("prepare")
	slices.Sort(got)
	if len(slices.Compact(got)) != 6 { // on a slow machine some come again
		t.Errorf("got %q, want 6", got)
	}
}

// A batch of short tasks may take longer than AckWait.
func TestBatch_ManyShortTasksAreDoneOnce(t *testing.T) {
	r := newRig(t)
	m, other := r.join("a"), r.join("b")
	const tasks = 10
	for i := range tasks {
		publish(t, m, job{Name: fmt.Sprint(i)})
	}
	var attempts atomic.Int32
	actor := mesh.ActorFunc[job](func(context.Context, job) error {
		attempts.Add(1)
		<-time.After(jobs().AckWait / 4) // the work
		return nil
	})
	r.serveBatch(m, tasks, actor)
	eventually(t, "the batch is taken", func() bool { return attempts.Load() > 0 })
	r.serveBatch(other, tasks, actor)
	eventually(t, "all done", func() bool { return pendingCount(t, m, "index") == 0 })
	if n := attempts.Load(); n != tasks {
		t.Errorf("got %d attempts, want one at each of %d tasks", n, tasks)
	}
}

// batched serves all waiting tasks with one worker, in batches of ten messages.
func (r *rig) batched(m *mesh.Mesh) *batcher {
	r.t.Helper()
	b := &batcher{done: map[string]int{}}
	stop := r.running(func(ctx context.Context) error { return mesh.ServeBatch(ctx, m, batchQueue(10), "", b, 1) })
	eventually(r.t, "all done", func() bool { return pendingCount(r.t, m, "index") == 0 })
	stop()
	return b
}

// After a crash the whole batch is redelivered; its tasks are processed in smaller batches, and alone after another.
func TestBatch_RedeliveredTasksAreProcessedInSmallerBatches(t *testing.T) {
	for crashes, want := range []int{10, 2, 1} {
		t.Run(fmt.Sprint(crashes), func(t *testing.T) {
			r := newRig(t)
			m := r.join("a")
			for i := range 10 {
				publish(t, m, job{Name: fmt.Sprint(i)})
			}
			eventually(t, "taken by each agent that crashes", func() bool { return crashes == 0 || r.takeAndDie() == crashes })
			b := r.batched(m)
			if slices.Max(b.sizes) != want || len(b.done) != 10 {
				t.Errorf("got %d done in batches of %v, want 10 in batches of %d", len(b.done), b.sizes, want)
			}
		})
	}
}

// Decoded tasks take several times the bytes of their messages, and many batches exist at a time.
func TestBatch_BoundedByBytes(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	for i := range 20 {
		publish(t, m, job{Name: fmt.Sprint(i), Kind: strings.Repeat("x", 700<<10)})
	}
	b := r.batched(m)
	if slices.Max(b.sizes) != 2 || len(b.done) != 20 {
		t.Errorf("got %d done in batches of %v, want 20 in batches of two (0.7 MB each)", len(b.done), b.sizes)
	}
}

// A pacedActor does one task an hour.
type pacedActor struct{ next atomic.Pointer[time.Time] }

func (a *pacedActor) ReceiveAll(context.Context, []job) error {
	next := time.Now().Add(time.Hour)
	a.next.Store(&next)
	return nil
}

func (a *pacedActor) Next() time.Time { return *a.next.Load() }

// A paced actor's batch is settled before the pause, other agents get the next tasks, and the end of the process ends the pause.
func TestBatch_PauseOfPacedActor(t *testing.T) {
	r := newRig(t)
	m := r.join("a")
	serve := func(m *mesh.Mesh) (stop func()) {
		return r.running(func(ctx context.Context) error { return mesh.ServeBatch(ctx, m, jobs(), "", new(pacedActor), 1) })
	}
	publish(t, m, job{Name: "1"})
	stop := serve(m)
	eventually(t, "the first is done", func() bool { return pendingCount(t, m, "index") == 0 })
	publish(t, m, job{Name: "2"})
	serve(r.join("b"))
	eventually(t, "the second is done", func() bool { return pendingCount(t, m, "index") == 0 })
	if m.Done() != 1 {
		t.Errorf("got %d tasks done by the first agent, want 1", m.Done())
	}
	stop()
}
