// Package mesh serves the queues of the mesh. [Join] declares the streams and returns a [Mesh]; [Serve] and
// [ServeBatch] fetch tasks with a pool of workers, pass them to an [Actor] or [BatchActor], retry failed
// tasks with a back-off and put tasks that failed all deliveries into quarantine. [Mesh.Single] runs an actor
// under a lease, one at a time in the mesh. The buckets of feed states, hosts, proxies, rules and heartbeats
// are read and written here as well.
//
// A worker buffers at most maxBatchBytes of fetched messages and maxOutboxBytes of unpublished ones, plus one
// message each.
package mesh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/trace"
	"feedmesh/subjects"
)

// Mesh is this process's connection to the mesh. Its methods may be called concurrently.
type Mesh struct {
	agent        string // ID of this process
	conn         *nats.Conn
	js           jetstream.JetStream
	unavailable  func(error) bool
	log          *slog.Logger
	trace        *trace.Tracer
	metrics      *metrics
	done         atomic.Uint64
	oldestSchema atomic.Int64               // newest schema version that all agents decode; 0 if not watched
	otherRoles   atomic.Pointer[[][]string] // roles of each other agent in the mesh; nil if not watched
	pipeline     pipeline
	feedCounts   atomic.Pointer[subjects.ScheduleCounts] // of the active schedule in this process; nil without

	mu       sync.Mutex
	declared time.Time // last attempt of redeclare
}

// Options are the parameters of [Join].
type Options struct {
	Agent       string // ID of this process, unique in the mesh
	Conn        *nats.Conn
	Domain      string           // JetStream domain of the mesh; empty: the server's own
	Unavailable func(error) bool // reports whether an actor's error means that a dependency is unavailable; see [Actor]
	Log         *slog.Logger
	Trace       *trace.Tracer // may be nil
	Metrics     prometheus.Registerer
}

// Join declares the streams and buckets and returns this process's Mesh. It waits until a cluster of servers
// is complete enough to respond. The caller closes the connection after all actors have stopped.
func Join(ctx context.Context, o Options) (*Mesh, error) {
	var js jetstream.JetStream
	var err error
	if timeout := jetstream.WithDefaultTimeout(10 * time.Second); o.Domain == "" {
		js, err = jetstream.New(o.Conn, timeout)
	} else {
		js, err = jetstream.NewWithDomain(o.Conn, o.Domain, timeout)
	}
	if err != nil {
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	m := &Mesh{agent: o.Agent, conn: o.Conn, js: js, unavailable: o.Unavailable, log: o.Log, trace: o.Trace, metrics: newMetrics(o.Metrics)}
	if err := m.awaitStreams(ctx); err != nil {
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	return m, nil
}

// bucket opens a bucket. If it was deleted, bucket creates it again, empty.
func (m *Mesh) bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	ctx = perRequestTimeout(ctx)
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

// perRequestTimeout hides the deadline of ctx, so that the client applies its default timeout to each
// request. With an actor's context, whose deadline is that of the task, one lost response would use up all
// its time. Cancellation still applies.
func perRequestTimeout(ctx context.Context) context.Context { return withoutDeadline{ctx} }

type withoutDeadline struct{ context.Context }

func (withoutDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done returns the number of tasks that this process completed.
func (m *Mesh) Done() uint64 { return m.done.Load() }

// Ping returns nil if JetStream responds.
func (m *Mesh) Ping(ctx context.Context) error {
	if _, err := m.js.AccountInfo(perRequestTimeout(ctx)); err != nil {
		return fmt.Errorf("query JetStream: %w", err)
	}
	return nil
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
