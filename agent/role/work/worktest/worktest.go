// Package worktest contains what the tests of roles share: an outbox, stores with feeds, documents, and a mesh.
package worktest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// Noon is the time of these tests.
var Noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// AtNoon is a clock that stands at [Noon].
func AtNoon() time.Time { return Noon }

// An Outbox is a publisher that records messages, or fails if Err is set.
type Outbox struct {
	mu       sync.Mutex
	Messages []subjects.Message
	Err      error
}

func (o *Outbox) Publish(ctx context.Context, m ...subjects.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := errors.Join(o.Err, subjects.Encode(m)); err != nil {
		return err
	}
	o.Messages = append(o.Messages, m...)
	return ctx.Err()
}

// Sent returns and removes the published tasks of a queue.
func Sent[T subjects.Task](t *testing.T, o *Outbox, queue subjects.Queue[T]) []T {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var tasks []T
	o.Messages = slices.DeleteFunc(o.Messages, func(m subjects.Message) bool {
		if subjects.QueueOf(m.Subject) != queue.Name {
			return false
		}
		task, err := queue.Decode(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		if task.ID() != m.ID || queue.Subject(task) != m.Subject {
			t.Errorf("got message %s on %s, want ID %s on %s as of its task", m.ID, m.Subject, task.ID(), queue.Subject(task))
		}
		tasks = append(tasks, task)
		return true
	})
	return tasks
}

// Only returns the single task published to a queue, and fails if the Outbox contains another message.
func Only[T subjects.Task](t *testing.T, o *Outbox, queue subjects.Queue[T]) T {
	t.Helper()
	tasks := Sent(t, o, queue)
	if len(tasks) != 1 || len(o.Messages) != 0 {
		t.Fatalf("got %d tasks on %s and %d elsewhere, want 1 and 0", len(tasks), queue.Name, len(o.Messages))
	}
	return tasks[0]
}

// StoreWith returns a store with feeds at these URLs.
func StoreWith(t testing.TB, urls ...string) storage.Store {
	t.Helper()
	store := enginetest.Store(t)
	feeds := make([]storage.Feed, len(urls))
	for i, url := range urls {
		feeds[i] = storage.Feed{ID: storage.FeedID(url), URL: url, Added: Noon}
	}
	if _, err := store.AddFeeds(t.Context(), feeds...); err != nil {
		t.Fatal(err)
	}
	return store
}

// Eventually waits for a state, with a timeout of 30 seconds.
func Eventually(t *testing.T, what string, state func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if state() {
			return
		}
	}
	t.Fatalf("timeout after 30 s: %s", what)
}

// ErrAway is the error of an engine that is away.
var ErrAway = errors.New("the store is away")

// Counted returns the value of a counter.
func Counted(t *testing.T, c prometheus.Collector) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		for _, m := range f.Metric {
			sum += m.GetCounter().GetValue()
		}
	}
	return sum
}
