package mesh

import (
	"cmp"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// delivery is one task of a message. A bundle yields several; a locally delivered task has no message.
type delivery struct {
	msg    jetstream.Msg // nil if delivered locally
	part   subjects.Part
	single bool
}

// deliveriesOf returns the tasks of a message, not decoded.
func deliveriesOf(msg jetstream.Msg) ([]delivery, error) {
	parts, err := subjects.Unbundle(msg.Data())
	if err != nil {
		return nil, err
	}
	if parts == nil {
		own := subjects.Part{ID: msg.Headers().Get(jetstream.MsgIDHeader), Header: msg.Headers(), Data: msg.Data()}
		return []delivery{{msg, own, true}}, nil
	}
	deliveries := make([]delivery, len(parts))
	for i, part := range parts {
		deliveries[i] = delivery{msg, part, false}
	}
	return deliveries, nil
}

// message returns the task as a message of its own.
func (p delivery) message() subjects.Message {
	return subjects.Message{Subject: p.msg.Subject(), ID: p.part.ID, Header: p.part.Header, Data: p.part.Data}
}

// redelivered reports whether the message was delivered before.
func redelivered(msg jetstream.Msg) bool {
	meta, err := msg.Metadata()
	return err == nil && meta.NumDelivered > 1
}

// messageBatch tracks the messages that a worker fetched together and has not settled yet. Its methods may be
// called concurrently.
type messageBatch struct {
	log *slog.Logger

	mu      sync.Mutex
	pending map[jetstream.Msg]*pendingMessage
}

// pendingMessage counts the unfinished tasks of a message.
type pendingMessage struct {
	deliveries int   // not done yet
	err        error // first error of a task that failed
}

func newMessageBatch(msgs []jetstream.Msg, log *slog.Logger) *messageBatch {
	b := &messageBatch{log: log, pending: make(map[jetstream.Msg]*pendingMessage, len(msgs))}
	for _, msg := range msgs {
		b.pending[msg] = &pendingMessage{deliveries: 1}
	}
	return b
}

// setDeliveries sets the number of tasks of a message; the default is one.
func (b *messageBatch) setDeliveries(msg jetstream.Msg, deliveries int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending[msg].deliveries = deliveries
}

// complete records that a task of a message is done or failed. For the last task of the message it returns
// true and the first error of all its tasks.
func (b *messageBatch) complete(msg jetstream.Msg, err error) (last bool, _ error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.pending[msg]
	m.deliveries--
	m.err = cmp.Or(m.err, err)
	return m.deliveries == 0, m.err
}

// extendAckWait restarts the server's AckWait timeout of all pending messages.
func (b *messageBatch) extendAckWait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for msg := range b.pending {
		if err := msg.InProgress(); err != nil {
			b.log.Warn("extend ack wait failed", "subject", msg.Subject(), "err", err)
		}
	}
}

// remove removes a message that was settled. If settling failed, the server redelivers it, which is harmless
// because actors are idempotent.
func (b *messageBatch) remove(msg jetstream.Msg, err error) {
	if err != nil {
		b.log.Warn("settle message failed", "subject", msg.Subject(), "err", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pending, msg)
}
