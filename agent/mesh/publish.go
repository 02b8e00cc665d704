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

// fullQueueRetry is the delay between retries of a publish.
const fullQueueRetry = 200 * time.Millisecond

// publishTimeout is the timeout of an acknowledgement: a server that crashed with the message never sends
// it.
const publishTimeout = 5 * time.Second

// publisher publishes tasks and events.
type publisher struct {
	*client
	agents *agents
}

// Publish puts messages on their queues. It returns when the server has stored them all or, under the context
// of an actor's task, when they are buffered to be executed or published before that task is settled; repeatable ones
// may pass in memory, see [Repeatable]. It blocks
// and retries while a queue is full or the servers are unavailable, until ctx ends. The messages belong to the
// trace of ctx.
func (p *publisher) Publish(ctx context.Context, messages ...subjects.Message) (err error) {
	box := outboxOf(ctx)
	var rest []subjects.Message // those that do not pass in memory
	for _, m := range messages {
		m.Header, m.Schema = trace.Header(ctx), p.agents.Schema(ctx)
		if p.memory.put(ctx, m) {
			continue
		}
		if box == nil || box.joined == nil || m.Task == nil || !box.joined(m.Subject) {
			if m, err = m.Encoded(); err != nil {
				return err
			}
		}
		rest = append(rest, m)
	}
	messages = rest
	if box != nil {
		return box.add(ctx, messages...)
	}
	return p.send(ctx, messages)
}

// send publishes messages, in bundles where possible.
func (p *publisher) send(ctx context.Context, messages []subjects.Message) error {
	if err := subjects.Encode(messages); err != nil {
		return err
	}
	for _, message := range subjects.Bundle(messages) {
		if err := p.sendOne(ctx, message); err != nil {
			return err
		}
	}
	return nil
}

func (p *publisher) sendOne(ctx context.Context, msg subjects.Message) error {
	for {
		err := p.tryPublish(ctx, msg)
		switch {
		case err == nil:
			fault.Point("published " + subjects.QueueOf(msg.Subject))
			return nil
		case isFull(err):
			p.metrics.full.WithLabelValues(subjects.QueueOf(msg.Subject)).Inc()
		case errors.Is(err, jetstream.ErrNoStreamResponse):
			p.redeclare(ctx)
		case isPermanent(err):
			return fmt.Errorf("publish to %s: %w", msg.Subject, err)
		default:
			// The servers are unavailable or elect a leader. If they stored the message nevertheless, the
			// retry is a duplicate by its ID.
		}
		if !sleep(ctx, fullQueueRetry) {
			return fmt.Errorf("publish to %s: %w", msg.Subject, errors.Join(ctx.Err(), err))
		}
	}
}

// tryPublish publishes a message once.
func (p *publisher) tryPublish(ctx context.Context, msg subjects.Message) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	_, err := p.js.PublishMsg(ctx, &nats.Msg{Subject: msg.Subject, Header: maps.Clone(msg.Header), Data: msg.Data},
		jetstream.WithMsgID(msg.ID))
	return err
}

// isFull reports whether a stream rejected a message because of its limits.
func isFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == 10077
}

// isPermanent reports whether a retry is pointless, because the message is invalid or the connection is
// closed.
func isPermanent(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrBadSubject) || errors.Is(err, nats.ErrConnectionClosed) ||
		errors.As(err, &api) && api.Code < 500
}
