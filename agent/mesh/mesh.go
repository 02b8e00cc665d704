// Package mesh carries tasks between roles: it pulls them from their queues,
// hands them to actors, settles them by what the actor answers, and puts those
// that can't be done into quarantine. It knows nothing of feeds and items.
package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/subjects"
)

// A Mesh is this process's part in the mesh. Its methods may be called
// concurrently.
type Mesh struct {
	agent    string // ID of this process
	conn     *nats.Conn
	js       jetstream.JetStream
	replicas int
	log      *slog.Logger
	metrics  *metrics
	done     atomic.Uint64
}

// Options say how to [Join].
type Options struct {
	Agent    string // ID of this process, unique in the mesh
	Conn     *nats.Conn
	Replicas int // of each stream
	Log      *slog.Logger
	Metrics  prometheus.Registerer
}

// Join declares what the mesh stands on and returns this process's part in it.
// The connection stays the caller's, to be closed after all actors are done.
func Join(ctx context.Context, o Options) (*Mesh, error) {
	js, err := jetstream.New(o.Conn, jetstream.WithDefaultTimeout(10*time.Second))
	if err != nil {
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	if err := subjects.Declare(ctx, js, o.Replicas); err != nil {
		if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) {
			err = fmt.Errorf("the NATS server has no JetStream: enable it there (jetstream {}): %w", err)
		}
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	return &Mesh{
		agent: o.Agent, conn: o.Conn, js: js, replicas: o.Replicas,
		log: o.Log, metrics: newMetrics(o.Metrics),
	}, nil
}

// redeclare brings back streams that were deleted behind our back: they are
// transport, and what was in them comes again from the feeds.
func (m *Mesh) redeclare(ctx context.Context) {
	if err := subjects.Declare(ctx, m.js, m.replicas); err != nil {
		m.log.Warn("can't declare the streams again", "err", err)
	}
}

// bucket opens a bucket, which it brings back empty if it was deleted.
func (m *Mesh) bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	kv, err := m.js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		m.redeclare(ctx)
		kv, err = m.js.KeyValue(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, err)
	}
	return kv, nil
}

// Done returns how many tasks this process has done.
func (m *Mesh) Done() uint64 { return m.done.Load() }

// Ping returns nil if the mesh answers.
func (m *Mesh) Ping(ctx context.Context) error {
	if _, err := m.js.AccountInfo(ctx); err != nil {
		return fmt.Errorf("ask JetStream: %w", err)
	}
	return nil
}

// full is how long a publisher waits before it tries a full queue again.
const full = 200 * time.Millisecond

// Publish puts a message on its queue and returns when it is safe there. While
// the queue is full or the servers are away it waits, until ctx ends.
func (m *Mesh) Publish(ctx context.Context, msg subjects.Message) error {
	for {
		_, err := m.js.PublishMsg(ctx, &nats.Msg{Subject: msg.Subject, Data: msg.Data},
			jetstream.WithMsgID(msg.ID))
		switch {
		case err == nil:
			return nil
		case isFull(err):
			m.metrics.full.WithLabelValues(subjects.QueueOf(msg.Subject)).Inc()
		case errors.Is(err, jetstream.ErrNoStreamResponse):
			m.redeclare(ctx)
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrDisconnected):
			// The servers are away, or choosing a leader.
		default:
			return fmt.Errorf("publish to %s: %w", msg.Subject, err)
		}
		if !sleep(ctx, full) {
			return fmt.Errorf("publish to %s: %w", msg.Subject, errors.Join(ctx.Err(), err))
		}
	}
}

// isFull reports whether a stream refused a message because of its limits.
func isFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == 10077
}

// sleep waits for d and reports whether ctx still lives then.
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
