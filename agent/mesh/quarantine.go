package mesh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/trace"
	"feedmesh/subjects"
)

// quarantine contains the tasks that failed all attempts.
type quarantine struct {
	*client
	publisher *publisher
}

// ErrNoTask is returned for a number without a task in the quarantine.
var ErrNoTask = errors.New("no such task in quarantine")

// quarantinedMessage describes a message without deliveries left.
func quarantinedMessage(msg jetstream.Msg, queue string, attempts int, err error) subjects.Quarantined {
	return subjects.Quarantined{
		Queue: queue, Subject: msg.Subject(), Task: msg.Headers().Get(jetstream.MsgIDHeader),
		Reason: err.Error(), Attempts: attempts, At: time.Now().UTC(), Message: msg.Data(),
	}
}

// put stores the task in the quarantine, for inspection by a user. It is idempotent.
func (s quarantine) put(ctx context.Context, q subjects.Quarantined) error {
	if !json.Valid(q.Message) { // store invalid JSON as a string
		q.Message, _ = json.Marshal(string(q.Message))
	}
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("quarantine task %s: %w", q.Task, err)
	}
	ack, err := s.js.PublishMsg(perRequestTimeout(ctx), &nats.Msg{Subject: subjects.QuarantineSubject(q.Queue), Data: data},
		jetstream.WithMsgID(q.Queue+"/"+q.Task))
	if err != nil {
		return fmt.Errorf("quarantine task %s: %w", q.Task, err)
	}
	if !ack.Duplicate {
		s.metrics.quarantined.WithLabelValues(q.Queue).Inc()
	}
	return nil
}

// deadLetter quarantines a task whose last attempt neither succeeded nor failed.
func (s quarantine) deadLetter(ctx context.Context, l subjects.DeadLetter) error {
	ctx = perRequestTimeout(ctx)
	const reason = "the agent crashed or hung in the last attempt"
	stream, err := s.js.Stream(ctx, l.Stream)
	if err != nil {
		return fmt.Errorf("find a dead letter: %w", err)
	}
	raw, err := stream.GetMsg(ctx, l.Seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil // its last attempt succeeded after all, or it is in quarantine already
	}
	if err != nil {
		return fmt.Errorf("find a dead letter: %w", err)
	}
	if err := s.put(ctx, subjects.Quarantined{
		Queue: l.Stream, Subject: raw.Subject, Task: raw.Header.Get(jetstream.MsgIDHeader),
		Reason: reason, Attempts: l.Deliveries, At: time.Now().UTC(), Message: raw.Data,
	}); err != nil {
		return err
	}
	s.logOf(trace.Join(ctx, raw.Header)).Error("task quarantined", "role", l.Stream, "subject", raw.Subject, "attempt", l.Deliveries, "err", reason)
	if err := stream.DeleteMsg(ctx, l.Seq); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return fmt.Errorf("delete a dead letter: %w", err)
	}
	return nil
}

// Quarantined returns at most limit quarantined tasks with numbers above after, in order, without their
// messages.
func (s quarantine) Quarantined(ctx context.Context, after uint64, limit int) ([]subjects.Quarantined, error) {
	ctx = perRequestTimeout(ctx)
	stream, err := s.js.Stream(ctx, subjects.QuarantineStream)
	if err != nil {
		return nil, fmt.Errorf("list the quarantine: %w", err)
	}
	var list []subjects.Quarantined
	for len(list) < limit {
		raw, err := stream.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(subjects.QuarantineSubject("*")))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list the quarantine: %w", err)
		}
		q, err := readQuarantined(raw)
		if err != nil {
			return nil, err
		}
		q.Message = nil
		list, after = append(list, q), raw.Sequence
	}
	return list, nil
}

// QuarantinedTask returns the quarantined task with the given number, including its message.
func (s quarantine) QuarantinedTask(ctx context.Context, seq uint64) (subjects.Quarantined, error) {
	ctx = perRequestTimeout(ctx)
	stream, err := s.js.Stream(ctx, subjects.QuarantineStream)
	if err != nil {
		return subjects.Quarantined{}, fmt.Errorf("read the quarantine: %w", err)
	}
	raw, err := stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return subjects.Quarantined{}, fmt.Errorf("task %d: %w", seq, ErrNoTask)
	}
	if err != nil {
		return subjects.Quarantined{}, fmt.Errorf("read the quarantine: %w", err)
	}
	return readQuarantined(raw)
}

// Replay moves a quarantined task back to its queue with a full count of deliveries.
func (s quarantine) Replay(ctx context.Context, seq uint64) error {
	q, err := s.QuarantinedTask(ctx, seq)
	if err != nil {
		return err
	}
	// The original ID may still be in the queue's duplicate window.
	id := fmt.Sprintf("%s.replay%d", q.Task, seq)
	if err := s.publisher.Publish(ctx, subjects.Message{Subject: q.Subject, ID: id, Data: q.Message}); err != nil {
		return err
	}
	return s.DeleteQuarantined(ctx, seq)
}

// DeleteQuarantined deletes a quarantined task.
func (s quarantine) DeleteQuarantined(ctx context.Context, seq uint64) error {
	ctx = perRequestTimeout(ctx)
	stream, err := s.js.Stream(ctx, subjects.QuarantineStream)
	if err != nil {
		return fmt.Errorf("delete a quarantined task: %w", err)
	}
	if err := stream.DeleteMsg(ctx, seq); errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		return fmt.Errorf("task %d: %w", seq, ErrNoTask)
	} else if err != nil {
		return fmt.Errorf("delete a quarantined task: %w", err)
	}
	return nil
}

func readQuarantined(raw *jetstream.RawStreamMsg) (subjects.Quarantined, error) {
	var q subjects.Quarantined
	if err := json.Unmarshal(raw.Data, &q); err != nil {
		return q, fmt.Errorf("read quarantined task %d: %w", raw.Sequence, err)
	}
	q.Seq = raw.Sequence
	return q, nil
}
