package mesh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/fault"
	"feedmesh/agent/trace"
	"feedmesh/subjects"
)

// full is how long a publisher waits before it tries a full queue again.
const full = 200 * time.Millisecond

// answerTime is how long the answer to a message is waited for: a server that was
// killed with the message in its hands never gives one.
const answerTime = 5 * time.Second

// Publish puts messages on their queues and returns when all are safe there, or,
// where an actor publishes under the context of its task, when they are sure to be
// before that task is settled. While a queue is full or the servers are away it
// waits, until ctx ends. The messages belong to the trace of ctx.
func (m *Mesh) Publish(ctx context.Context, messages ...subjects.Message) error {
	for i := range messages {
		messages[i].Header = trace.Header(ctx)
	}
	if box := outboxOf(ctx); box != nil {
		return box.add(ctx, messages...)
	}
	return m.send(ctx, messages)
}

// send puts messages on their queues, in as few as they fit.
func (m *Mesh) send(ctx context.Context, messages []subjects.Message) (err error) {
	for i := range messages {
		if messages[i], err = messages[i].Written(m.Schema(ctx)); err != nil {
			return err
		}
	}
	for _, message := range subjects.Bundle(messages) {
		if err := m.sendOne(ctx, message); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mesh) sendOne(ctx context.Context, msg subjects.Message) error {
	for {
		err := m.try(ctx, msg)
		switch {
		case err == nil:
			fault.Point("published " + subjects.QueueOf(msg.Subject))
			return nil
		case isFull(err):
			m.metrics.full.WithLabelValues(subjects.QueueOf(msg.Subject)).Inc()
		case errors.Is(err, jetstream.ErrNoStreamResponse):
			m.redeclare(ctx)
		case isFinal(err):
			return fmt.Errorf("publish to %s: %w", msg.Subject, err)
		default:
			// The servers are away, or choosing a leader. Should they have taken it
			// all the same, they tell by its ID that the next one is the same.
		}
		if !sleep(ctx, full) {
			return fmt.Errorf("publish to %s: %w", msg.Subject, errors.Join(ctx.Err(), err))
		}
	}
}

// try tries once to put a message on its queue.
func (m *Mesh) try(ctx context.Context, msg subjects.Message) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	_, err := m.js.PublishMsg(ctx, &nats.Msg{Subject: msg.Subject, Header: maps.Clone(msg.Header), Data: msg.Data},
		jetstream.WithMsgID(msg.ID))
	return err
}

// isFull reports whether a stream refused a message because of its limits.
func isFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == 10077
}

// isFinal reports whether a message is refused for what it is, or nobody is left
// who could send it.
func isFinal(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrBadSubject) || errors.Is(err, nats.ErrConnectionClosed) ||
		errors.As(err, &api) && api.Code < 500
}
