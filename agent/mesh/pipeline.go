package mesh

import (
	"context"
	"sync"

	"feedmesh/subjects"
)

// pipeline contains the steps that this process serves: the servers of queues with [subjects.Queue.AllowLocal].
// A worker runs its step on a batch of tasks, then the joined steps on the follow-up tasks, and publishes the
// remaining follow-up tasks; all of it is part of the delivery of the batch. Without a message between two steps
// nothing is written, synced, fetched and decoded.
//
// Two steps are joined if this process serves both, and every other agent that serves the second also serves
// the first: otherwise that agent could get tasks of the second step only as messages. A redelivered task runs
// one step only.
//
// Its methods may be called concurrently.
type pipeline struct {
	mu    sync.RWMutex
	steps map[string]*step // by subject
}

// step is the server of a queue while it serves.
type step struct {
	follow followFunc
	busy   sync.RWMutex // read-locked while it runs
	closed bool
}

// followFunc runs a step on follow-up tasks of a batch, and then the steps joined to it. It returns the messages
// to publish: the remaining follow-up tasks, and tasks that failed.
type followFunc func(ctx context.Context, batch *messageBatch, tasks []subjects.Message) (publish []subjects.Message)

// register adds the step of subjects. The returned function removes it and waits until its tasks are finished.
// While they run, their context also ends with ctx.
func (p *pipeline) register(ctx context.Context, all []string, follow followFunc) (unregister func()) {
	s := &step{follow: func(inner context.Context, batch *messageBatch, tasks []subjects.Message) []subjects.Message {
		inner, cancel := context.WithCancel(inner)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		return follow(inner, batch, tasks)
	}}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.steps == nil {
		p.steps = map[string]*step{}
	}
	for _, subject := range all {
		p.steps[subject] = s
	}
	return func() {
		p.mu.Lock()
		for _, subject := range all {
			if p.steps[subject] == s {
				delete(p.steps, subject)
			}
		}
		p.mu.Unlock()
		s.busy.Lock()
		defer s.busy.Unlock()
		s.closed = true
	}
}

// step returns the step of a subject, or nil.
func (p *pipeline) step(subject string) *step {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.steps[subject]
}

// run runs the steps of the tasks that are not encoded, and returns the messages to publish.
func (p *pipeline) run(ctx context.Context, batch *messageBatch, messages []subjects.Message) (publish []subjects.Message) {
	tasks := map[string][]subjects.Message{}
	var order []string
	for _, m := range messages {
		switch {
		case m.Task == nil:
			publish = append(publish, m)
			continue
		case tasks[m.Subject] == nil:
			order = append(order, m.Subject)
		}
		tasks[m.Subject] = append(tasks[m.Subject], m)
	}
	for _, subject := range order {
		publish = append(publish, p.step(subject).run(ctx, batch, tasks[subject])...)
	}
	return publish
}

// run runs the step. If it is no longer registered, run returns the tasks.
func (s *step) run(ctx context.Context, batch *messageBatch, tasks []subjects.Message) (publish []subjects.Message) {
	if s == nil {
		return tasks
	}
	s.busy.RLock()
	defer s.busy.RUnlock()
	if s.closed {
		return tasks
	}
	return s.follow(ctx, batch, tasks)
}
