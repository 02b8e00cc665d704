package mesh

import (
	"container/list"
	"context"
	"sync"
	"time"

	"feedmesh/subjects"
)

// Repeatable returns a context for publishes whose source repeats them after a crash, as the schedule dispatches feeds
// without a result again. Tasks of queues with [subjects.Queue.InMemory] then pass to the workers of this process in
// memory, without a message, if no other process uses the server; and so do the tasks that follow from them. A task
// that fails, or that no worker takes any more, becomes a message. Tasks that follow from stored items are repeated by
// the comparisons of the index and of the views with the store at the start.
func Repeatable(ctx context.Context) context.Context {
	return context.WithValue(ctx, repeatableKey{}, true)
}

type repeatableKey struct{}

// IsRepeatable reports whether a task of ctx passed in memory: see [Repeatable].
func IsRepeatable(ctx context.Context) bool { return ctx.Value(repeatableKey{}) != nil }

// PassesInMemory reports whether repeatable tasks of a queue pass in memory at present.
func (c *client) PassesInMemory(queue string) bool {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	for _, q := range c.memory.bySubject {
		if q.name == queue {
			return true
		}
	}
	return false
}

// memoryQueues are the queues of the workers of this process for tasks without a message. Its methods may be called
// concurrently.
type memoryQueues struct {
	mu        sync.Mutex
	bySubject map[string]*memoryQueue
	done      map[string]uint64 // finished tasks by queue
}

// Bounds of a queue in memory: see [subjects.MemoryMode].
const (
	maxMemoryTasks = 5_000
	maxMemoryBytes = 8 << 20 // of documents and items; one task may exceed it

	spillAfter = time.Second // see [subjects.MemorySpills]
)

// A memoryQueue contains the tasks of some subjects until they are finished, oldest first.
type memoryQueue struct {
	name    string
	waits   bool      // publishers wait while it is full
	changed sync.Cond // of the fields below; its lock protects them
	waiting []*memoryTask
	pending list.List // of *memoryTask: waiting or in progress, oldest first
	bytes   int       // of the waiting ones
	full    time.Time // since when a publisher found no room, and none has found room; zero otherwise
	closed  bool
}

type memoryTask struct {
	subjects.Message
	size  int
	since time.Time
	at    *list.Element // in pending
}

// open adds a queue for subjects. close removes it and returns its waiting tasks.
func (m *memoryQueues) open(name string, mode subjects.MemoryMode, all []string) (q *memoryQueue, close func() (waiting []subjects.Message)) {
	q = &memoryQueue{name: name, waits: mode == subjects.MemoryWaits}
	q.changed.L = new(sync.Mutex)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bySubject == nil {
		m.bySubject, m.done = map[string]*memoryQueue{}, map[string]uint64{}
	}
	for _, subject := range all {
		m.bySubject[subject] = q
	}
	return q, func() (waiting []subjects.Message) {
		m.mu.Lock()
		for _, subject := range all {
			if m.bySubject[subject] == q {
				delete(m.bySubject, subject)
			}
		}
		m.mu.Unlock()
		q.change(func() {
			for _, t := range q.waiting {
				waiting = append(waiting, t.Message)
			}
			q.closed, q.waiting = true, nil
		})
		return waiting
	}
}

// put passes a message to the workers of this process, and reports whether they take it.
func (m *memoryQueues) put(ctx context.Context, message subjects.Message) bool {
	if message.Task == nil || !IsRepeatable(ctx) {
		return false
	}
	m.mu.Lock()
	q := m.bySubject[message.Subject]
	m.mu.Unlock()
	return q != nil && q.put(ctx, message)
}

// add adds what a queue contains in memory to its depth.
func (m *memoryQueues) add(d *subjects.Depth) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d.Done += m.done[d.Queue]
	seen := map[*memoryQueue]bool{}
	for _, q := range m.bySubject {
		if q.name == d.Queue && !seen[q] {
			seen[q] = true
			q.add(d)
		}
	}
}

// finish removes tasks that were taken.
func (m *memoryQueues) finish(q *memoryQueue, tasks []*memoryTask) {
	q.change(func() {
		for _, t := range tasks {
			q.pending.Remove(t.at)
		}
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done[q.name] += uint64(len(tasks))
}

func (q *memoryQueue) change(do func()) {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	do()
	q.changed.Broadcast()
}

// wait waits until a condition holds, the queue is closed or ctx ends, and reports whether the condition holds. The lock
// must be held.
func (q *memoryQueue) wait(ctx context.Context, condition func() bool) bool {
	defer context.AfterFunc(ctx, func() { q.change(func() {}) })()
	for !q.closed && ctx.Err() == nil && !condition() {
		q.changed.Wait()
	}
	return !q.closed && ctx.Err() == nil
}

// put adds a task. While the queue is full it waits, see [subjects.MemoryMode], and returns false if it remains full, is
// closed, or ctx ends.
func (q *memoryQueue) put(ctx context.Context, message subjects.Message) bool {
	t := &memoryTask{Message: message, since: time.Now()}
	if s, is := message.Task.(interface{ BodySize() int }); is {
		t.size = s.BodySize()
	}
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	hasRoom := func() bool {
		return len(q.waiting) < maxMemoryTasks && (q.bytes == 0 || q.bytes+t.size <= maxMemoryBytes)
	}
	if !q.waits && !hasRoom() {
		if q.full.IsZero() {
			q.full = time.Now()
		}
		var cancel func()
		ctx, cancel = context.WithDeadline(ctx, q.full.Add(spillAfter))
		defer cancel()
	}
	if !q.wait(ctx, hasRoom) {
		return false
	}
	q.full = time.Time{}
	t.at = q.pending.PushBack(t)
	q.waiting, q.bytes = append(q.waiting, t), q.bytes+t.size
	q.changed.Broadcast()
	return true
}

// take waits for tasks and returns at most limit, oldest first. It returns none after the queue was closed or ctx has
// ended.
func (q *memoryQueue) take(ctx context.Context, limit int) []*memoryTask {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	if !q.wait(ctx, func() bool { return len(q.waiting) > 0 }) {
		return nil
	}
	n, bytes := 0, 0
	for n < min(limit, len(q.waiting)) && (n == 0 || bytes+q.waiting[n].size <= maxMemoryBytes/2) {
		bytes += q.waiting[n].size
		n++
	}
	tasks := q.waiting[:n:n]
	if q.waiting, q.bytes = q.waiting[n:], q.bytes-bytes; len(q.waiting) == 0 {
		q.waiting = nil // frees the array
	}
	q.changed.Broadcast()
	return tasks
}

func (q *memoryQueue) add(d *subjects.Depth) {
	q.changed.L.Lock()
	defer q.changed.L.Unlock()
	d.Tasks, d.Bytes = d.Tasks+uint64(q.pending.Len()), d.Bytes+uint64(q.bytes)
	d.Fill = max(d.Fill, float64(q.bytes)/maxMemoryBytes, float64(len(q.waiting))/maxMemoryTasks)
	if oldest := q.pending.Front(); oldest != nil {
		d.Oldest = max(d.Oldest, time.Since(oldest.Value.(*memoryTask).since).Seconds())
	}
}
