package mesh

import (
	"cmp"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// delivery is one task of a message. A bundle yields several; a task in memory and the follow-up task of a joined step
// have no message.
type delivery struct {
	subjects.Message               // of the task; Single if it was delivered as a message of its own
	msg              jetstream.Msg // nil without a message
	since            time.Time     // publishing time of a task in memory; zero for others
}

// deliveriesOf returns the tasks of a message, not decoded.
func deliveriesOf(msg jetstream.Msg) ([]delivery, error) {
	parts, err := subjects.Unbundle(msg.Data())
	if err != nil {
		return nil, err
	}
	single := parts == nil
	if single {
		parts = []subjects.Part{{ID: msg.Headers().Get(jetstream.MsgIDHeader), Header: msg.Headers(), Data: msg.Data()}}
	}
	deliveries := make([]delivery, len(parts))
	for i, p := range parts {
		deliveries[i] = delivery{Message: subjects.Message{
			Subject: msg.Subject(), ID: p.ID, Header: p.Header, Schema: subjects.SchemaOf(p.Data), Single: single, Data: p.Data,
		}, msg: msg}
	}
	return deliveries, nil
}

// retry returns the message that repeats the task of a bundle or of a joined step by itself.
func (d delivery) retry() subjects.Message {
	d.Single = true
	return d.Message
}

// attemptOf returns the number of times that the message was delivered, 1 at first.
func attemptOf(msg jetstream.Msg) int {
	meta, err := msg.Metadata()
	if err != nil {
		return 1
	}
	return int(meta.NumDelivered)
}

// redelivered reports whether the message was delivered before.
func redelivered(msg jetstream.Msg) bool { return attemptOf(msg) > 1 }

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
