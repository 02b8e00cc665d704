package mesh

import (
	"context"
	"sync"

	"feedmesh/subjects"
)

// outboxSize is how many bytes of messages wait for the tasks of a hand to be
// done. What comes on top goes at once, which is harmless, as everything may be
// published twice.
const outboxSize = 8 << 20

// An outbox holds what follows from the tasks in a worker's hand until they are
// done, so that it can go in few messages. Its methods may be called concurrently.
type outbox struct {
	mesh *Mesh
	root string // queue that the tasks in hand came from; empty: what follows is to go by queues

	mu       sync.Mutex
	messages []subjects.Message
	size     int
}

type outboxKey struct{}

// withOutbox returns a context under which what is published goes to the outbox.
func withOutbox(ctx context.Context, box *outbox) context.Context {
	return context.WithValue(ctx, outboxKey{}, box)
}

// outboxOf returns the outbox of a context, or nil.
func outboxOf(ctx context.Context) *outbox {
	box, _ := ctx.Value(outboxKey{}).(*outbox)
	return box
}

// add takes messages, and sends all there are if they get too many.
func (b *outbox) add(ctx context.Context, messages ...subjects.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, messages...)
	for _, m := range messages {
		b.size += len(m.Data)
	}
	if b.size <= outboxSize {
		return nil
	}
	return b.sendLocked(ctx)
}

// take takes out what there is.
func (b *outbox) take() []subjects.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.messages
	b.messages, b.size = nil, 0
	return messages
}

func (b *outbox) sendLocked(ctx context.Context) error {
	messages := b.messages
	b.messages, b.size = nil, 0
	return b.mesh.send(ctx, messages)
}

// count returns how many messages there are.
func (b *outbox) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.messages)
}

// keep drops all but the first n messages: the task they follow from has failed.
func (b *outbox) keep(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = min(n, len(b.messages))
	for _, m := range b.messages[n:] {
		b.size -= len(m.Data)
	}
	b.messages = b.messages[:n]
}
