package mesh

import (
	"context"
	"runtime/pprof"
	"slices"
	"sync"

	"feedmesh/agent/fault"
	"feedmesh/subjects"
)

// What follows from a task may be done at once by the same process, if it serves
// that queue too: see [subjects.Queue.Direct]. Then no message is written, synced
// to disk, fetched and read again, and a document goes from its bytes to where its
// items belong in one hand. To the roles it is all the same: they publish, and
// they receive.

// directTasks is how many tasks of a hand are taken through all that follows at once:
// enough to share what is published in the end, and few enough that what they grow
// to on their way (a document, its items, their words) is not much.
const directTasks = 32

// A neighbour does tasks that follow from others in the same hand.
type neighbour interface {
	// receive does the tasks of messages, and returns what is to be published then:
	// what follows from them, and those that failed, as they were.
	receive(ctx context.Context, hand *hand, root string, messages []subjects.Message) []subjects.Message
}

// A neighbourhood is who in this process does tasks that need not travel. Its
// methods may be called concurrently.
type neighbourhood struct {
	mu sync.RWMutex
	at map[string]*resident // by subject
}

// A resident is a neighbour for as long as it serves.
type resident struct {
	neighbour
	ctx  context.Context // its own
	busy sync.RWMutex    // read-locked while it works
	gone bool
}

// settle has a neighbour do the tasks of subjects until the function that it
// returns is called, which returns when none is in its hands. ctx is the one that
// the neighbour serves under.
func (n *neighbourhood) settle(ctx context.Context, subjects []string, who neighbour) (leave func()) {
	r := &resident{neighbour: who, ctx: ctx}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.at == nil {
		n.at = map[string]*resident{}
	}
	for _, subject := range subjects {
		n.at[subject] = r
	}
	return func() {
		n.mu.Lock()
		for _, subject := range subjects {
			if n.at[subject] == r {
				delete(n.at, subject)
			}
		}
		n.mu.Unlock()
		r.busy.Lock()
		defer r.busy.Unlock()
		r.gone = true
	}
}

// of returns who does the tasks of a subject, or nil.
func (n *neighbourhood) of(subject string) *resident {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.at[subject]
}

// Nearby implements [subjects.Neighbour].
func (m *Mesh) Nearby(ctx context.Context, subject string) bool {
	box := outboxOf(ctx)
	return box != nil && box.root != "" && m.neighbours.of(subject) != nil && m.Schema(ctx) == subjects.Schema &&
		!m.wantsWork(box.root, subjects.QueueOf(subject))
}

// wantsWork reports whether some other agent can get tasks of a queue only as
// messages: it serves the queue, but not the one from whose tasks they follow.
func (m *Mesh) wantsWork(root, queue string) bool {
	others := m.others.Load()
	return others != nil && slices.ContainsFunc(*others, func(roles []string) bool {
		return slices.Contains(roles, queue) && !slices.Contains(roles, root)
	})
}

// doDirect has neighbours do what follows from the tasks of a hand, and what follows
// from that, and returns the messages that are to be published.
func (m *Mesh) doDirect(ctx context.Context, hand *hand, box *outbox) (rest []subjects.Message) {
	tasks := map[string][]subjects.Message{}
	var order []string
	for _, message := range box.take() {
		if message.Task == nil {
			rest = append(rest, message)
			continue
		}
		if tasks[message.Subject] == nil {
			order = append(order, message.Subject)
		}
		tasks[message.Subject] = append(tasks[message.Subject], message)
	}
	for _, subject := range order {
		rest = append(rest, m.neighbours.of(subject).do(ctx, hand, box.root, tasks[subject])...)
	}
	return rest
}

// do has the resident do tasks, unless it left.
func (r *resident) do(ctx context.Context, hand *hand, root string, messages []subjects.Message) []subjects.Message {
	if r == nil {
		return messages
	}
	r.busy.RLock()
	defer r.busy.RUnlock()
	if r.gone {
		return messages
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	return r.receive(ctx, hand, root, messages)
}

// receive implements [neighbour].
func (s *server[T]) receive(ctx context.Context, hand *hand, root string, messages []subjects.Message) (rest []subjects.Message) {
	pprof.Do(ctx, pprof.Labels("role", s.queue.Name), func(ctx context.Context) {
		fault.Point("published " + s.queue.Name)
		fault.Point("taken " + s.queue.Name)
		jobs := make([]job[T], len(messages))
		for i, m := range messages {
			jobs[i] = job[T]{parcel{part: subjects.Part{ID: m.ID, Header: m.Header}}, m.Task.(T)}
		}
		box := &outbox{mesh: s.mesh, root: root}
		for i, err := range s.perform(ctx, hand, box, jobs) {
			switch log := s.mesh.log.With("role", s.queue.Name, "task", messages[i].ID, "err", err); verdict(err) {
			case "done":
			case "dropped":
				log.Info("dropped a task")
			default: // it has its tries there
				log.Warn("a task that followed from another failed, and goes to its queue")
				rest = append(rest, messages[i])
			}
		}
		fault.Point("done " + s.queue.Name)
		rest = append(rest, s.mesh.doDirect(ctx, hand, box)...)
	})
	return rest
}
