package mesh

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
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

	mu       sync.Mutex
	pending  map[jetstream.Msg]*pendingMessage
	extended time.Time // of the last restart of AckWait, of exclusive tasks one that the server confirmed; at first of the receipt
}

// pendingMessage counts the unfinished tasks of a message.
type pendingMessage struct {
	deliveries int   // not done yet
	err        error // first error of a task that failed
}

func newMessageBatch(msgs []jetstream.Msg, log *slog.Logger) *messageBatch {
	b := &messageBatch{log: log, pending: make(map[jetstream.Msg]*pendingMessage, len(msgs)), extended: time.Now()}
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

// untilExtension returns the time after which AckWait has to be restarted, which is not positive if it is late.
func (b *messageBatch) untilExtension(ackWait time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Until(b.extended.Add(ackWait / 3))
}

// extendAckWait restarts the server's AckWait timeout of all pending messages.
func (b *messageBatch) extendAckWait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.extended = time.Now()
	for msg := range b.pending {
		if err := msg.InProgress(); err != nil {
			b.log.Warn("extend ack wait failed", "subject", msg.Subject(), "err", err)
		}
	}
}

// errExpired is returned for an attempt at an exclusive task whose AckWait may have ended: the server redelivers it.
var errExpired = errors.New("the NATS server did not confirm in time that the task is in progress, it is left to another attempt")

// expiryOf returns the part of an AckWait after which a batch counts as expired. The rest is for the request by which the messages
// were fetched: the server counts from their delivery.
func expiryOf(ackWait time.Duration) time.Duration { return ackWait * 3 / 4 }

// expired reports whether the server may redeliver the messages.
func (b *messageBatch) expired(ackWait time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending) > 0 && time.Since(b.extended) >= expiryOf(ackWait)
}

// confirmAckWait restarts the server's AckWait timeout of all pending messages. It repeats that until the server confirms it or
// ctx ends, and returns errExpired if the batch expires meanwhile.
func (b *messageBatch) confirmAckWait(ctx context.Context, conn *nats.Conn, ackWait time.Duration) error {
	b.mu.Lock()
	expiry := b.extended.Add(expiryOf(ackWait))
	b.mu.Unlock()
	within, cancel := context.WithDeadline(ctx, expiry)
	defer cancel()
	for within.Err() == nil {
		began := time.Now()
		if b.requestExtension(within, conn, ackWait/3) == nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.extended = began
			return nil
		}
		sleep(within, ackWait/30)
	}
	if ctx.Err() != nil {
		return nil // the attempt is over
	}
	return errExpired
}

// requestExtension restarts the server's AckWait timeout of all pending messages, and waits for the confirmation of each.
func (b *messageBatch) requestExtension(ctx context.Context, conn *nats.Conn, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	b.mu.Lock()
	pending := slices.Collect(maps.Keys(b.pending))
	b.mu.Unlock()
	for _, msg := range pending {
		if _, err := conn.RequestWithContext(ctx, msg.Reply(), []byte("+WPI")); err != nil {
			return err
		}
	}
	return nil
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
