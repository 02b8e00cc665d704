// Package mesh serves the queues of the mesh. [Join] declares the streams and returns a [Mesh]; [Serve] and
// [ServeBatch] fetch tasks with a pool of workers, pass them to an [Actor] or [BatchActor], retry failed
// tasks with a back-off and put tasks that failed all deliveries into quarantine. [Mesh.Single] runs an actor
// under a lease, one at a time in the mesh. The buckets of feed states, hosts, proxies, rules and heartbeats
// are read and written here as well; each part of Mesh is a file.
//
// A worker buffers at most maxBatchBytes of fetched messages and maxOutboxBytes of unpublished ones, plus one
// message each.
package mesh

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/trace"
	"feedmesh/agent/websub"
)

// Mesh is this process's connection to the mesh, composed of its parts. Its methods may be called concurrently.
type Mesh struct {
	*client
	states
	history
	rules
	agents
	leases
	cordons
	queues
	events
	publisher
	quarantine

	unavailable func(error) bool
	trace       *trace.Tracer
	pipeline    pipeline
	done        atomic.Uint64
}

// Options are the parameters of [Join].
type Options struct {
	Agent       string // ID of this process, unique in the mesh
	Conn        *nats.Conn
	Alone       bool               // the server runs in this process, for it alone
	Partitions  int                // of a schedule that is created; 0: one, as always of a process that is alone
	Domain      string             // JetStream domain of the mesh; empty: the server's own
	Unavailable func(error) bool   // reports whether an actor's error means that a dependency is unavailable; see [Actor]
	Waiting     func(reason error) // called while Join waits; may be nil
	Log         *slog.Logger
	Trace       *trace.Tracer // may be nil
	Metrics     prometheus.Registerer
}

// Timeouts of a request to JetStream. A request to a server that hangs gets no answer, also when the connection has moved
// to another server meanwhile: only a retry after the timeout does.
const (
	requestTimeout = 4 * time.Second
	declareTimeout = 10 * time.Second // to declare a stream, which a cluster must agree on
)

// jetStream returns JetStream with a timeout for requests whose context has no deadline.
func (o Options) jetStream(timeout time.Duration) (jetstream.JetStream, error) {
	if o.Domain == "" {
		return jetstream.New(o.Conn, jetstream.WithDefaultTimeout(timeout))
	}
	return jetstream.NewWithDomain(o.Conn, o.Domain, jetstream.WithDefaultTimeout(timeout))
}

// Join declares the streams and buckets and returns this process's Mesh. It waits while the servers do not respond, as
// those of a cluster that is not complete enough. The caller closes the connection after all actors have stopped.
func Join(ctx context.Context, o Options) (*Mesh, error) {
	js, err := o.jetStream(requestTimeout)
	if err != nil {
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	declaring, err := o.jetStream(declareTimeout)
	if err != nil {
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	if o.Alone {
		o.Partitions = 1
	}
	c := &client{agent: o.Agent, alone: o.Alone, newPartitions: max(1, o.Partitions), conn: o.Conn, js: js, declaring: declaring, log: o.Log, metrics: newMetrics(o.Metrics)}
	if err := c.awaitStreams(ctx, o.Waiting); err != nil {
		return nil, fmt.Errorf("join the mesh: %w", err)
	}
	competition := &competition{agent: o.Agent}
	m := &Mesh{
		client: c, states: states{c}, history: history{c}, rules: rules{c}, agents: agents{client: c, competition: competition}, leases: leases{client: c, competition: competition}, cordons: cordons{client: c, competition: competition}, queues: queues{c, new(recentDepths)}, events: events{c},
		unavailable: o.Unavailable, trace: o.Trace,
	}
	m.agents.cordons = &m.cordons
	m.publisher = publisher{c, &m.agents}
	m.quarantine = quarantine{c, &m.publisher}
	return m, nil
}

// Done returns the number of tasks that this process completed.
func (m *Mesh) Done() uint64 { return m.done.Load() }

// Responses returns the bucket of responses to repeatable requests.
func (m *Mesh) Responses() Responses { return Responses{m.client} }

// Subscriptions returns the bucket of WebSub subscriptions.
func (m *Mesh) Subscriptions() websub.Subscriptions { return subscriptions{m.client} }
