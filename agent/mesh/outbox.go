package mesh

import (
	"context"
	"sync"

	"feedmesh/subjects"
)

// maxOutboxBytes bounds the messages buffered until a batch is done. Above it they are published immediately,
// which is harmless, because every message may be published twice.
const maxOutboxBytes = 8 << 20

// outbox buffers the follow-up tasks of a worker's batch until the batch is done, so that they are published
// in few messages. Its methods may be called concurrently.
type outbox struct {
	send   func(ctx context.Context, messages []subjects.Message) error
	joined func(subject string) bool // whether a task continues in this process; nil: none does

	mu       sync.Mutex
	messages []subjects.Message
	size     int
}

type outboxKey struct{}

// withOutbox returns a context whose publishes are buffered in the outbox.
func withOutbox(ctx context.Context, box *outbox) context.Context {
	return context.WithValue(ctx, outboxKey{}, box)
}

// outboxOf returns the outbox of a context, or nil.
func outboxOf(ctx context.Context) *outbox {
	box, _ := ctx.Value(outboxKey{}).(*outbox)
	return box
}

// add buffers messages, and publishes the whole buffer if it exceeds maxOutboxBytes.
func (b *outbox) add(ctx context.Context, messages ...subjects.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, messages...)
	for _, m := range messages {
		b.size += len(m.Data)
	}
	if b.size <= maxOutboxBytes {
		return nil
	}
	all := b.messages
	b.messages, b.size = nil, 0
	return b.send(ctx, all)
}

// drain empties the buffer and returns its messages.
func (b *outbox) drain() []subjects.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.messages
	b.messages, b.size = nil, 0
	return messages
}

// count returns the number of buffered messages.
func (b *outbox) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.messages)
}

// truncate removes all but the first n buffered messages, because the task that published them failed.
func (b *outbox) truncate(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = min(n, len(b.messages))
	for _, m := range b.messages[n:] {
		b.size -= len(m.Data)
	}
	b.messages = b.messages[:n]
}
