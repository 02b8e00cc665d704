package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/trace"
	"feedmesh/subjects"
)

// client is the connection that the parts of the mesh share. Its methods may be called concurrently.
type client struct {
	agent     string // ID of this process
	alone     bool   // no other process uses the server
	conn      *nats.Conn
	js        jetstream.JetStream
	declaring jetstream.JetStream // with a longer timeout, for streams
	log       *slog.Logger
	metrics   *metrics

	memory memoryQueues
	intake intake
	active atomic.Pointer[StateSource] // the active schedule, if it is in this process

	newPartitions int // of a schedule bucket that this process creates

	redeclaring sync.Mutex // held during redeclare
	declared    time.Time  // last attempt of redeclare

	mu      sync.Mutex
	skipped map[string]uint64 // revisions of the unreadable values that were skipped, by key; at most maxSkipped
	failed  map[string]error  // of the last scan, by bucket; without the buckets that were read whole
}

// Partitions returns the number of partitions of the schedule. If its bucket was deleted, it is created again, empty.
func (c *client) Partitions(ctx context.Context) (int, error) {
	ctx = perRequestTimeout(ctx)
	n, err := subjects.Partitions(ctx, c.js)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		c.redeclare(ctx)
		n, err = subjects.Partitions(ctx, c.js)
	}
	return n, err
}

// IsAlone reports whether no other process uses the NATS server, so that tasks pass in memory: see [Repeatable].
func (c *client) IsAlone() bool { return c.alone }

// maxSkipped bounds the memory of skipped values. If there are more, they are logged again.
const maxSkipped = 1000

// firstSkip records that a revision of an unreadable value is skipped, and reports whether that is new.
func (c *client) firstSkip(key string, revision uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skipped[key] == revision {
		return false
	}
	if c.skipped == nil || len(c.skipped) >= maxSkipped {
		c.skipped = map[string]uint64{}
	}
	c.skipped[key] = revision
	return true
}

// Ping returns nil if JetStream responds, and sends the values of the buckets that this process reads.
func (c *client) Ping(ctx context.Context) error {
	if _, err := c.js.AccountInfo(perRequestTimeout(ctx)); err != nil {
		return fmt.Errorf("query JetStream: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, bucket := range slices.Sorted(maps.Keys(c.failed)) {
		return c.failed[bucket]
	}
	return nil
}

// scanned records the result of a scan of a bucket.
func (c *client) scanned(bucket string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed = map[string]error{}
	}
	if delete(c.failed, bucket); err != nil {
		c.failed[bucket] = err
	}
}

// perRequestTimeout hides the deadline of ctx, so that the client applies its default timeout to each
// request. With an actor's context, whose deadline is that of the task, one lost response would use up all
// its time. Cancellation still applies.
func perRequestTimeout(ctx context.Context) context.Context { return withoutDeadline{ctx} }

type withoutDeadline struct{ context.Context }

func (withoutDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

// ErrStale is returned for a write based on an outdated revision.
var ErrStale = errors.New("changed by another writer in the meantime")

// isStale reports whether a write was rejected because its key has a newer revision.
func isStale(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// started is the time from which ticks are counted.
var started = time.Now()

// UntilTick returns the time until the next tick of an interval, a multiple of it since the start of the process. Work of many
// kinds that runs at ticks wakes an idle process once for all.
func UntilTick(interval time.Duration) time.Duration {
	return min(interval, interval-time.Since(started)%interval) // a clock of tests may be before the start
}

// sleep waits for d and reports false if ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// logOf returns the logger with the trace ID of ctx.
func (c *client) logOf(ctx context.Context) *slog.Logger {
	if id := trace.ID(ctx); id != "" {
		return c.log.With("trace_id", id)
	}
	return c.log
}
