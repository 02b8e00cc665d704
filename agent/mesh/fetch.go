package mesh

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// fetchWait is the timeout of a worker's fetch, after which it checks whether to stop, plus up to half as much.
// The jitter keeps JetStream from always serving the same longest-waiting consumer. A fetch is not cancelled:
// a task sent to a consumer that has left counts as a delivery and waits for the queue's AckWait.
const fetchWait = 2 * time.Second

// Timeout and heartbeat of a worker's fetch if this process is alone. It is long, so that an idle queue costs nothing.
const (
	aloneFetchWait = time.Minute
	aloneHeartbeat = 29 * time.Second // the client requires one, and that it is shorter than half of the timeout
)

// fetchBatch returns a batch of up to limit messages. If some are available, it fetches them without waiting;
// otherwise it waits for the first and fetches a share of those that arrived with it. It returns nil if none arrived in time.
func (c *client) fetchBatch(ctx context.Context, consumer jetstream.Consumer, limit, available, shares int) (msgs []jetstream.Msg, err error) {
	if available > 0 {
		if msgs, err = collect(consumer.FetchNoWait(available)); err != nil || len(msgs) > 0 {
			return msgs, err
		}
	}
	msgs, err = c.awaitMessage(ctx, consumer)
	n := batchLimit(msgs, limit) - 1
	if len(msgs) == 0 || !redelivered(msgs[0]) { // messages to be redelivered do not count as pending
		n = min(n, shareOf(pendingCount(msgs), shares))
	}
	if err != nil || n == 0 {
		return msgs, err
	}
	more, err := collect(consumer.FetchNoWait(n))
	if err != nil {
		return msgs, nil // the first is fetched; the error will recur
	}
	return append(msgs, more...), nil
}

// awaitMessage waits for a message, and returns none after a timeout.
func (c *client) awaitMessage(ctx context.Context, consumer jetstream.Consumer) ([]jetstream.Msg, error) {
	if !c.alone {
		return collect(consumer.Fetch(1, jetstream.FetchMaxWait(fetchWait+rand.N(fetchWait/2))))
	}
	batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(aloneFetchWait), jetstream.FetchHeartbeat(aloneHeartbeat))
	if err != nil {
		return nil, err
	}
	select {
	case msg, received := <-batch.Messages():
		if received {
			return []jetstream.Msg{msg}, nil
		}
		return nil, fetchError(batch)
	case <-ctx.Done():
		go giveBack(batch)
		return nil, nil
	}
}

// giveBack returns what a fetch that was left still gets to the queue, until the timeout of the fetch or the end of the
// process. The roles stop before the connection is closed, so no task is published in between.
func giveBack(batch jetstream.MessageBatch) {
	for msg := range batch.Messages() {
		_ = msg.Nak() // otherwise it waits for the queue's AckWait
	}
}

// maxBatchBytes bounds the memory of one batch. Messages may be bundles of 512 KiB, and decoding takes
// several times their size; each worker of each role has a batch.
const maxBatchBytes = 2 << 20

// batchLimit returns how many messages of the average size of msgs fit into a batch, from 1 to limit. The
// estimate may be exceeded by one batch if messages grow.
func batchLimit(msgs []jetstream.Msg, limit int) int {
	bytes := 0
	for _, msg := range msgs {
		bytes += len(msg.Data())
	}
	if bytes == 0 {
		return limit
	}
	return max(1, min(limit, maxBatchBytes*len(msgs)/bytes))
}

// pendingCount returns the number of messages that remained on the queue after these.
func pendingCount(msgs []jetstream.Msg) int {
	if len(msgs) == 0 {
		return 0
	}
	meta, err := msgs[len(msgs)-1].Metadata()
	if err != nil {
		return 0
	}
	return int(meta.NumPending)
}

// shareOf returns one of the shares of a number of messages, rounded up.
func shareOf(messages, shares int) int { return (messages + shares - 1) / shares }

func collect(batch jetstream.MessageBatch, err error) ([]jetstream.Msg, error) {
	if err != nil {
		return nil, err
	}
	var msgs []jetstream.Msg
	for msg := range batch.Messages() {
		msgs = append(msgs, msg)
	}
	if len(msgs) == 0 {
		return nil, fetchError(batch)
	}
	return msgs, nil
}

// fetchError returns the error of a fetch that has ended, nil after its timeout.
func fetchError(batch jetstream.MessageBatch) error {
	if err := batch.Error(); !errors.Is(err, nats.ErrTimeout) {
		return err
	}
	return nil
}
