package mesh

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// MaxPutBatch is the maximum number of messages of an atomic write to a bucket.
const MaxPutBatch = 1000

// putBatch writes at most [MaxPutBatch] messages to one bucket, all or none, and returns the sequence number
// of the last. It returns [ErrStale] if a message expects another revision than the current one.
//
// A batch takes one fsync instead of one a message. A single message is published without a batch, because
// the server sets up storage for each batch.
func (c *client) putBatch(ctx context.Context, msgs []*nats.Msg) (last uint64, err error) {
	if len(msgs) == 1 {
		return c.commit(ctx, msgs[0])
	}
	batch := nuid.Next()
	for i, msg := range msgs {
		msg.Header.Set("Nats-Batch-Id", batch)
		msg.Header.Set("Nats-Batch-Sequence", strconv.Itoa(i+1))
		if i == len(msgs)-1 {
			break
		}
		if err := c.conn.PublishMsg(msg); err != nil {
			return 0, err
		}
	}
	msgs[len(msgs)-1].Header.Set("Nats-Batch-Commit", "1")
	return c.commit(ctx, msgs[len(msgs)-1])
}

// commit publishes a single message or the last one of a batch, and returns its sequence number.
func (c *client) commit(ctx context.Context, msg *nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	reply, err := c.conn.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return 0, err
	}
	var ack struct {
		Seq   uint64              `json:"seq"`
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return 0, fmt.Errorf("decode the server's acknowledgement: %w", err)
	}
	switch {
	case ack.Error == nil:
		return ack.Seq, nil
	case isStale(ack.Error):
		return 0, fmt.Errorf("%w: %w", ErrStale, ack.Error)
	}
	return 0, ack.Error
}

// valueMessage returns a message with the value as JSON.
func valueMessage(subject string, value any) (*nats.Msg, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	msg := nats.NewMsg(subject)
	msg.Data = data
	return msg, nil
}

// putAll writes a message for each value, in batches.
func putAll[T any](ctx context.Context, c *client, values []T, messageOf func(T) (*nats.Msg, error)) error {
	for chunk := range slices.Chunk(values, MaxPutBatch) {
		msgs := make([]*nats.Msg, len(chunk))
		for i, v := range chunk {
			var err error
			if msgs[i], err = messageOf(v); err != nil {
				return err
			}
		}
		if _, err := c.putBatch(ctx, msgs); err != nil {
			return fmt.Errorf("write %d of %s: %w", len(chunk), msgs[0].Subject, err)
		}
	}
	return nil
}
