package mesh_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// memoryJobs is [jobs] with tasks in memory.
func memoryJobs(mode subjects.MemoryMode) subjects.Queue[job] {
	q := jobs()
	q.InMemory = mode
	return q
}

// messages returns the number of messages that a queue ever got.
func (r *rig) messages(m *mesh.Mesh, queue string) uint64 {
	r.t.Helper()
	depths, err := m.Depths(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, d := range depths {
		if d.Queue == queue {
			return d.Tasks + d.Done
		}
	}
	return 0
}

// streamed returns the last sequence number of a queue's stream.
func (r *rig) streamed(queue string) uint64 {
	r.t.Helper()
	js, err := jetstream.New(r.connect())
	if err != nil {
		r.t.Fatal(err)
	}
	stream, err := js.Stream(r.t.Context(), queue)
	if err != nil {
		r.t.Fatal(err)
	}
	return stream.CachedInfo().State.LastSeq
}

func TestMemory_RepeatableTasksOfProcessAlone(t *testing.T) {
	for _, c := range []struct {
		name       string
		alone      bool
		repeatable bool
		mode       subjects.MemoryMode
		messages   uint64
	}{
		{"alone and repeatable", true, true, subjects.MemoryWaits, 0},
		{"not repeatable, as changes by users", true, false, subjects.MemoryWaits, 1},
		{"in a mesh", false, true, subjects.MemoryWaits, 1},
		{"queue without tasks in memory", true, true, subjects.MemoryOff, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			m := r.joinAlone()
			if !c.alone {
				m = r.join("a")
			}
			queue := memoryJobs(c.mode)
			done := make(chan bool, 1)
			r.running(func(ctx context.Context) error {
				return mesh.Serve(ctx, m, queue, "", mesh.ActorFunc[job](func(ctx context.Context, _ job) error {
					done <- mesh.IsRepeatable(ctx)
					return nil
				}), 1)
			})
			if c.alone && c.mode != subjects.MemoryOff {
				eventually(t, "workers serve", func() bool { return m.PassesInMemory(queue.Name) })
			}
			ctx := t.Context()
			if c.repeatable {
				ctx = mesh.Repeatable(ctx)
			}
			if err := subjects.Publish(ctx, m, queue, job{Name: "x"}); err != nil {
				t.Fatal(err)
			}
			if got, want := <-done, c.messages == 0; got != want {
				t.Errorf("got repeatable %t in the actor, want %t: tasks that follow from it pass in memory too", got, want)
			}
			eventually(t, "task done", func() bool { return pendingCount(t, m, queue.Name) == 0 })
			if got := r.streamed(queue.Name); got != c.messages {
				t.Errorf("got %d messages in the queue, want %d", got, c.messages)
			}
			if got := r.messages(m, queue.Name); got != 1 {
				t.Errorf("got %d tasks counted, want 1", got)
			}
		})
	}
}

// A failed task becomes a message, which is retried with delays and can get into the quarantine.
func TestMemory_FailedTaskBecomesMessage(t *testing.T) {
	r := newRig(t)
	m, queue := r.joinAlone(), memoryJobs(subjects.MemoryWaits)
	var attempts atomic.Int32
	r.running(func(ctx context.Context) error {
		return mesh.Serve(ctx, m, queue, "", mesh.ActorFunc[job](func(context.Context, job) error {
			if attempts.Add(1) == 1 {
				return errors.New("at first it fails")
			}
			return nil
		}), 1)
	})
	eventually(t, "workers serve", func() bool { return m.PassesInMemory(queue.Name) })
	if err := subjects.Publish(mesh.Repeatable(t.Context()), m, queue, job{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "second attempt", func() bool { return attempts.Load() == 2 })
	eventually(t, "queue empty", func() bool { return pendingCount(t, m, queue.Name) == 0 })
	if got := r.streamed(queue.Name); got != 1 {
		t.Errorf("got %d messages, want the retry", got)
	}
}

// heavy is a task of two megabytes.
type heavy struct{ job }

func (heavy) BodySize() int { return 2 << 20 }

func TestMemory_FullQueue(t *testing.T) {
	for _, c := range []struct {
		name string
		mode subjects.MemoryMode
	}{
		{"publishers wait", subjects.MemoryWaits}, {"tasks become messages", subjects.MemorySpills},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			m := r.joinAlone()
			queue := subjects.Queue[heavy]{Name: "index", Timeout: time.Minute, AckWait: time.Second, MaxDeliver: 6, BackOff: jobs().BackOff, InMemory: c.mode}
			release := make(chan struct{})
			var done atomic.Int32
			r.running(func(ctx context.Context) error {
				return mesh.Serve(ctx, m, queue, "", mesh.ActorFunc[heavy](func(context.Context, heavy) error {
					<-release
					done.Add(1)
					return nil
				}), 1)
			})
			eventually(t, "workers serve", func() bool { return m.PassesInMemory(queue.Name) })
			const tasks = 8 // one in progress, four in memory
			var published atomic.Int32
			var group sync.WaitGroup
			for i := range tasks {
				group.Go(func() {
					if err := subjects.Publish(mesh.Repeatable(t.Context()), m, queue, heavy{job{Name: fmt.Sprint(i)}}); err != nil {
						t.Error(err)
					}
					published.Add(1)
				})
			}
			if c.mode == subjects.MemoryWaits {
				eventually(t, "memory is full", func() bool { return published.Load() == 5 })
				if got := pendingCount(t, m, queue.Name); got != 5 {
					t.Errorf("got %d tasks, want 5", got)
				}
			} else {
				eventually(t, "all are published", func() bool { return published.Load() == tasks })
			}
			close(release)
			group.Wait()
			eventually(t, "all are done", func() bool { return done.Load() == tasks })
			want := uint64(0)
			if c.mode == subjects.MemorySpills {
				want = 3
			}
			if got := r.streamed(queue.Name); got != want {
				t.Errorf("got %d messages, want %d", got, want)
			}
		})
	}
}

// When workers stop, what waits in memory becomes messages, also of a publisher that waits for them.
func TestMemory_WorkersStop(t *testing.T) {
	for _, mode := range []subjects.MemoryMode{subjects.MemoryWaits, subjects.MemorySpills} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) { testWorkersStop(t, mode) })
	}
}

func testWorkersStop(t *testing.T, mode subjects.MemoryMode) {
	r := newRig(t)
	m := r.joinAlone()
	queue := subjects.Queue[heavy]{Name: "index", Timeout: time.Minute, AckWait: time.Second, MaxDeliver: 6, BackOff: jobs().BackOff, InMemory: mode}
	release, taken, ending := make(chan struct{}), make(chan struct{}, 8), make(chan struct{})
	stop := r.running(func(ctx context.Context) error {
		context.AfterFunc(ctx, func() { close(ending) })
		return mesh.Serve(ctx, m, queue, "", mesh.ActorFunc[heavy](func(context.Context, heavy) error {
			taken <- struct{}{}
			<-release
			return nil
		}), 1)
	})
	eventually(t, "workers serve", func() bool { return m.PassesInMemory(queue.Name) })
	published := make(chan error, 8)
	for i := range 6 {
		go func() {
			published <- subjects.Publish(mesh.Repeatable(t.Context()), m, queue, heavy{job{Name: fmt.Sprint(i)}})
		}()
	}
	for range 5 {
		if err := <-published; err != nil {
			t.Fatal(err)
		}
	}
	<-taken
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	<-ending
	close(release)
	<-stopped
	if err := <-published; err != nil {
		t.Fatal(err)
	}
	if m.PassesInMemory(queue.Name) {
		t.Error("a queue without workers accepts tasks in memory")
	}
	if got := r.streamed(queue.Name); got != 2 {
		t.Errorf("got %d messages, want a bundle of those that waited, and that of the publisher", got)
	}
}
