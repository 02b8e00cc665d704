package mesh

import (
	"context"
	"slices"
	"sync"

	"feedmesh/subjects"
)

// An intake decides whether the workers of this process take tasks: none do while it is closed. Those of a queue that other
// agents serve too do not while tasks of a later queue wait that only this process takes, as the holder of a lease: otherwise the
// mesh is as slow as its busiest agent. The zero value is open.
type intake struct {
	mu      sync.Mutex
	closed  bool
	waiting map[string]string // queues of the subjects with waiting tasks that only this process takes
	changed chan struct{}     // is closed at the next change; nil if nothing waits for it
}

// set opens or closes the intake.
func (i *intake) set(open bool) {
	i.change(func() { i.closed = !open })
}

// isOpen reports whether this process takes tasks.
func (i *intake) isOpen() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.closed
}

// report sets whether tasks of a subject wait. It does nothing unless ctx is that of the holder of a lease.
func (i *intake) report(ctx context.Context, queue, subject string, waits bool) {
	if !holds(ctx) {
		return
	}
	i.change(func() {
		switch {
		case !waits:
			delete(i.waiting, subject)
		case i.waiting == nil:
			i.waiting = map[string]string{subject: queue}
		default:
			i.waiting[subject] = queue
		}
	})
}

func (i *intake) change(do func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	do()
	if i.changed != nil {
		close(i.changed)
		i.changed = nil
	}
}

// await waits until workers of a queue may take tasks, or ctx ends. The holder of a lease takes the tasks of its actor in any
// case, until another agent holds the lease. shared states whether other agents serve the queue.
func (i *intake) await(ctx context.Context, queue string, shared bool) {
	if holds(ctx) {
		return
	}
	for ctx.Err() == nil {
		i.mu.Lock()
		if !i.closed && !(shared && i.hasWaitingAfter(queue)) {
			i.mu.Unlock()
			return
		}
		if i.changed == nil {
			i.changed = make(chan struct{})
		}
		changed := i.changed
		i.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// hasWaitingAfter reports whether tasks wait that an item reaches after a queue. Tasks of a later queue never depend on those of
// an earlier one, so none of them waits for this process in turn.
func (i *intake) hasWaitingAfter(queue string) bool {
	at := slices.Index(subjects.QueueNames, queue)
	for _, later := range i.waiting {
		if slices.Index(subjects.QueueNames, later) > at {
			return true
		}
	}
	return false
}

// AwaitIntake waits while this agent is drained, or until ctx ends. Roles that take work otherwise than by [Serve] call it
// before they take more.
func (c *client) AwaitIntake(ctx context.Context) { c.intake.await(ctx, "", false) }
