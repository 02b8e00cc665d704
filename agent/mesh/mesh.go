// Package mesh carries tasks between roles: it pulls them from their queues,
// hands them to actors, settles them by what the actor answers, and puts those
// that can't be done into quarantine. It knows nothing of feeds and items.
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

// A Mesh is this process's part in the mesh. Its methods may be called
// concurrently.
type Mesh struct {
	agent      string // ID of this process
	conn       *nats.Conn
	js         jetstream.JetStream
	away       func(error) bool
	log        *slog.Logger
	trace      *trace.Tracer
	metrics    *metrics
	done       atomic.Uint64
	oldest     atomic.Int64               // version of tasks that all agents read; 0 if not looked for
	others     atomic.Pointer[[][]string] // roles of each other agent in the mesh; nil if not looked for
	neighbours neighbourhood
	counts     atomic.Pointer[subjects.Counts] // of feeds, if this process has the active schedule and it has told them

	mu       sync.Mutex
	declared time.Time // when the streams were last declared again
}

// Options say how to [Join].
type Options struct {
	Agent   string // ID of this process, unique in the mesh
	Conn    *nats.Conn
	Domain  string           // JetStream domain of the mesh; empty: that of the server joined
	Away    func(error) bool // whether an actor's error says that what it stands on is away; see [Actor]
	Log     *slog.Logger
	Trace   *trace.Tracer // may be nil
	Metrics prometheus.Registerer
}

// Join declares what the mesh stands on and returns this process's part in it.
// It waits for a cluster of servers that is not complete enough yet to answer.
// The connection stays the caller's, to be closed after all actors are done.
func Join(ctx context.Context, o Options) (*Mesh, error) {
	var js jetstream.JetStream
	var err error
	if patience := jetstream.WithDefaultTimeout(10 * time.Second); o.Domain == "" {
		js, err = jetstream.New(o.Conn, patience)
	} else {
		js, err = jetstream.NewWithDomain(o.Conn, o.Domain, patience)
	}
	if err != nil {
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	m := &Mesh{agent: o.Agent, conn: o.Conn, js: js, away: o.Away, log: o.Log, trace: o.Trace, metrics: newMetrics(o.Metrics)}
	if err := m.awaitStreams(ctx); err != nil {
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	return m, nil
}

// bucket opens a bucket, which it brings back empty if it was deleted.
func (m *Mesh) bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	ctx = eachBounded(ctx)
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

// eachBounded returns a context that ends with ctx, but by whose own deadline
// nobody goes: so the client gives each request its own time to be answered. Of
// an actor's context, which lives as long as the task's lease, one lost answer
// would take all.
func eachBounded(ctx context.Context) context.Context { return withoutDeadline{ctx} }

type withoutDeadline struct{ context.Context }

func (withoutDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done returns how many tasks this process has done.
func (m *Mesh) Done() uint64 { return m.done.Load() }

// Ping returns nil if the mesh answers.
func (m *Mesh) Ping(ctx context.Context) error {
	if _, err := m.js.AccountInfo(eachBounded(ctx)); err != nil {
		return fmt.Errorf("ask JetStream: %w", err)
	}
	return nil
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
