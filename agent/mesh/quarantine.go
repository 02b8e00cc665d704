package mesh

import (
	"cmp"
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

// quarantine contains the tasks that failed all attempts, and unreadable values of buckets.
type quarantine struct {
	*client
	publisher *publisher
}

var (
	// ErrNoTask is returned for a number without a task in the quarantine.
	ErrNoTask = errors.New("no such task in quarantine")

	// ErrNoReplay is returned for a value of a bucket, which has been replaced since.
	ErrNoReplay = errors.New("an unreadable value of a bucket can't be replayed: it was replaced. Inspect it, then drop it")
)

// quarantinedMessage describes a message without deliveries left. Without an ID of its own, as if another
// program published it, it is named by its place in the stream.
func quarantinedMessage(msg jetstream.Msg, queue string, attempts int, err error) subjects.Quarantined {
	task := msg.Headers().Get(jetstream.MsgIDHeader)
	if meta, err := msg.Metadata(); task == "" && err == nil {
		task = placeID(meta.Stream, meta.Sequence.Stream)
	}
	q := subjects.Quarantined{Queue: queue, Subject: msg.Subject(), Task: task, Reason: err.Error(), Attempts: attempts, At: time.Now().UTC()}
	q.SetMessage(msg.Data())
	return q
}

// placeID names a message by its stream and sequence number.
func placeID(stream string, seq uint64) string { return fmt.Sprintf("%s/%d", stream, seq) }

// quarantineTask stores a task in the quarantine, for inspection by a user. It is idempotent.
func quarantineTask(ctx context.Context, c *client, q subjects.Quarantined) error {
	data, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("quarantine task %s: %w", q.Task, err)
	}
	ack, err := c.js.PublishMsg(perRequestTimeout(ctx), &nats.Msg{Subject: subjects.QuarantineSubject(q.Queue), Data: data},
		jetstream.WithMsgID(q.Queue+"/"+q.Task))
	if err != nil {
		return fmt.Errorf("quarantine task %s: %w", q.Task, err)
	}
	if !ack.Duplicate {
		c.metrics.quarantined.WithLabelValues(q.Queue).Inc()
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
	q := subjects.Quarantined{
		Queue: l.Stream, Subject: raw.Subject, Task: cmp.Or(raw.Header.Get(jetstream.MsgIDHeader), placeID(l.Stream, l.Seq)),
		Reason: reason, Attempts: l.Deliveries, At: time.Now().UTC(),
	}
	q.SetMessage(raw.Data)
	if err := quarantineTask(ctx, s.client, q); err != nil {
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
		q := readQuarantined(raw)
		q.SetMessage(nil)
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
	return readQuarantined(raw), nil
}

// Replay moves a quarantined task back to its queue with a full count of deliveries.
func (s quarantine) Replay(ctx context.Context, seq uint64) error {
	q, err := s.QuarantinedTask(ctx, seq)
	if err != nil {
		return err
	}
	if q.IsValue() {
		return fmt.Errorf("task %d: %w", seq, ErrNoReplay)
	}
	// The original ID may still be in the queue's duplicate window.
	id := fmt.Sprintf("%s.replay%d", q.Task, seq)
	if err := s.publisher.Publish(ctx, subjects.Message{Subject: q.Subject, ID: id, Data: q.Data()}); err != nil {
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

// readQuarantined decodes a record of the quarantine. An unreadable record is returned as a task that is that
// record.
func readQuarantined(raw *jetstream.RawStreamMsg) subjects.Quarantined {
	var q subjects.Quarantined
	if err := json.Unmarshal(raw.Data, &q); err != nil {
		q = subjects.Quarantined{
			Queue: subjects.QuarantineStream, Subject: raw.Subject, Task: placeID(subjects.QuarantineStream, raw.Sequence),
			Reason: "unreadable record of the quarantine: " + err.Error(), At: raw.Time,
		}
		q.SetMessage(raw.Data)
	}
	q.Seq = raw.Sequence
	return q
}
