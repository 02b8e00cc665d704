package mesh

import (
	"context"
	"runtime/pprof"
	"slices"
	"sync"

	"feedmesh/agent/fault"
	"feedmesh/subjects"
)

// Local delivery: if this process also serves the queue of a follow-up task, the task goes to its actor
// without a message that is written, synced, fetched and decoded; see [subjects.Queue.AllowLocal]. Roles
// publish and receive as usual.

// localBatch is the number of tasks of a batch that are processed through all local follow-ups together:
// enough to share the final publishes, few enough to bound the memory of their intermediate forms (documents,
// items, words).
const localBatch = 32

// localHandler handles follow-up tasks of the same batch.
type localHandler interface {
	// handle handles the tasks of messages, and returns the messages to publish: follow-ups for other
	// processes, and failed tasks unchanged.
	handle(ctx context.Context, batch *messageBatch, rootQueue string, messages []subjects.Message) []subjects.Message
}

// localRegistry maps subjects to the handlers in this process. Its methods may be called concurrently.
type localRegistry struct {
	mu        sync.RWMutex
	bySubject map[string]*registration // by subject
}

// registration is a localHandler while it serves.
type registration struct {
	localHandler
	ctx    context.Context // of the handler
	busy   sync.RWMutex    // read-locked during handle
	closed bool
}

// register registers the handler of subjects. The returned function unregisters it and waits until its tasks
// are finished. ctx is the context that the handler serves under.
func (n *localRegistry) register(ctx context.Context, subjects []string, handler localHandler) (unregister func()) {
	r := &registration{localHandler: handler, ctx: ctx}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.bySubject == nil {
		n.bySubject = map[string]*registration{}
	}
	for _, subject := range subjects {
		n.bySubject[subject] = r
	}
	return func() {
		n.mu.Lock()
		for _, subject := range subjects {
			if n.bySubject[subject] == r {
				delete(n.bySubject, subject)
			}
		}
		n.mu.Unlock()
		r.busy.Lock()
		defer r.busy.Unlock()
		r.closed = true
	}
}

// lookup returns the handler of a subject, or nil.
func (n *localRegistry) lookup(subject string) *registration {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.bySubject[subject]
}

// HandlesLocally implements [subjects.LocalPublisher].
func (m *Mesh) HandlesLocally(ctx context.Context, subject string) bool {
	pending := outboxOf(ctx)
	return pending != nil && pending.rootQueue != "" && m.local.lookup(subject) != nil && m.Schema(ctx) == subjects.Schema &&
		!m.neededElsewhere(pending.rootQueue, subjects.QueueOf(subject))
}

// neededElsewhere reports whether another agent receives tasks of a queue only as messages: it serves the
// queue, but not the root queue whose tasks they follow from.
func (m *Mesh) neededElsewhere(rootQueue, queue string) bool {
	others := m.otherRoles.Load()
	return others != nil && slices.ContainsFunc(*others, func(roles []string) bool {
		return slices.Contains(roles, queue) && !slices.Contains(roles, rootQueue)
	})
}

// deliverLocally delivers the local follow-ups in the outbox, and their own follow-ups, and returns the
// messages to publish.
func (m *Mesh) deliverLocally(ctx context.Context, batch *messageBatch, outbox *outbox) (remaining []subjects.Message) {
	tasks := map[string][]subjects.Message{}
	var order []string
	for _, message := range outbox.drain() {
		if message.Task == nil {
			remaining = append(remaining, message)
			continue
		}
		if tasks[message.Subject] == nil {
			order = append(order, message.Subject)
		}
		tasks[message.Subject] = append(tasks[message.Subject], message)
	}
	for _, subject := range order {
		remaining = append(remaining, m.local.lookup(subject).deliver(ctx, batch, outbox.rootQueue, tasks[subject])...)
	}
	return remaining
}

// deliver passes the tasks to the handler. If it is unregistered, deliver returns them.
func (r *registration) deliver(ctx context.Context, batch *messageBatch, rootQueue string, messages []subjects.Message) []subjects.Message {
	if r == nil {
		return messages
	}
	r.busy.RLock()
	defer r.busy.RUnlock()
	if r.closed {
		return messages
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	return r.handle(ctx, batch, rootQueue, messages)
}

// handle implements [localHandler].
func (s *server[T]) handle(ctx context.Context, batch *messageBatch, rootQueue string, messages []subjects.Message) (remaining []subjects.Message) {
	pprof.Do(ctx, pprof.Labels("role", s.queue.Name), func(ctx context.Context) {
		fault.Point("published " + s.queue.Name)
		fault.Point("taken " + s.queue.Name)
		jobs := make([]job[T], len(messages))
		for i, m := range messages {
			jobs[i] = job[T]{delivery{part: subjects.Part{ID: m.ID, Header: m.Header}}, m.Task.(T)}
		}
		outbox := &outbox{mesh: s.mesh, rootQueue: rootQueue}
		for i, err := range s.perform(ctx, batch, outbox, jobs) {
			switch log := s.mesh.log.With("role", s.queue.Name, "task", messages[i].ID, "err", err); verdict(err) {
			case "done":
			case "dropped":
				log.Info("task discarded")
			default: // retried on its queue
				log.Warn("local task failed, retry on its queue")
				remaining = append(remaining, messages[i])
			}
		}
		fault.Point("done " + s.queue.Name)
		remaining = append(remaining, s.mesh.deliverLocally(ctx, batch, outbox)...)
	})
	return remaining
}
