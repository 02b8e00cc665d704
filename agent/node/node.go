// Package node runs one process of the mesh: it opens what its roles need, runs
// them, and closes everything in reverse.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/nats-io/nuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/memory"
	"feedmesh/agent/mesh"
	"feedmesh/agent/role"
	"feedmesh/agent/trace"
	"feedmesh/config"
	"feedmesh/embedded"
	"feedmesh/subjects"
)

// drainTime is how long work in hand may take after the end was asked for.
const drainTime = 30 * time.Second

// Options are what a [Run] needs besides its settings.
type Options struct {
	Version string
	Log     *slog.Logger
	Clock   role.Clock        // nil: the real one
	Ready   func(addr string) // called once when all roles run, with the api's address; may be nil
}

// Run runs a node until ctx ends, and then until the work in hand is finished,
// half a minute at most. Its errors are for the person who started it. The
// settings must be valid.
func Run(ctx context.Context, c config.Config, o Options) (err error) {
	roles, err := role.Select(c.Roles)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	n := &node{config: c, options: o, roles: roles, registry: prometheus.NewRegistry(), news: make(chan struct{}, 1), self: subjects.Agent{
		ID: nuid.Next(), Host: host, Version: o.Version, Schema: subjects.Schema, Roles: role.Names(roles), Started: time.Now().UTC(),
	}}
	defer func() { err = errors.Join(err, n.close()) }()
	env, err := n.open(ctx)
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil // it was told to end before it had begun
	}
	if err != nil {
		return err
	}
	return n.run(ctx, env)
}

// A node is one process of the mesh.
type node struct {
	config   config.Config
	options  Options
	roles    []role.Role
	registry *prometheus.Registry
	self     subjects.Agent // what the mesh is told of this process

	server *embedded.Server // nil in somebody else's mesh
	mesh   *mesh.Mesh
	trace  *trace.Tracer // nil if nothing is traced
	rest   []io.Closer   // what is open, in the order it was opened
	rules  []*ruleSet
	news   chan struct{} // there is something to tell the mesh of this process

	running atomic.Bool // all roles run, and are not asked to end
	probes  []*probe    // of what they stand on, once running
}

// closer makes an [io.Closer] of a function.
type closer func() error

func (c closer) Close() error { return c() }

func (n *node) opened(c io.Closer) { n.rest = append(n.rest, c) }

// close closes what was opened, last first.
func (n *node) close() error {
	var faults []error
	for i := len(n.rest) - 1; i >= 0; i-- {
		faults = append(faults, n.rest[i].Close())
	}
	return errors.Join(faults...)
}

// open opens all that the roles need: first what is most likely to be somebody
// else's already, so that nothing is half done then.
func (n *node) open(ctx context.Context) (*role.Env, error) {
	n.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), agentInfo(n.self))
	env := &role.Env{
		Config: n.config, Clock: n.options.Clock, Log: n.options.Log, Version: n.options.Version,
		Metrics:     role.NewMetrics(n.registry),
		Workers:     max(2, runtime.GOMAXPROCS(0)),
		MetricsPage: promhttp.HandlerFor(n.registry, promhttp.HandlerOpts{}),
		Room:        n.room, Checks: n.checks,
	}
	n.rules = newRuleSets(env)
	env.Rulebooks = n.rulebooks()
	if err := n.openHealth(env); err != nil {
		return nil, err
	}
	if err := n.openTrace(); err != nil {
		return nil, err
	}
	var err error
	if n.plays(role.API) {
		if env.Listen, err = listen(n.config.Listen, "--listen"); err != nil {
			return nil, err
		}
		n.opened(closer(func() error { env.Listen.Close(); return nil })) // the role closes it, if it gets that far
	}
	if n.needsData() {
		if err := n.openData(); err != nil {
			return nil, err
		}
	}
	if err := n.openMesh(ctx); err != nil {
		return nil, err
	}
	env.Mesh = n.mesh
	if err := n.openEngines(ctx, env); err != nil {
		return nil, err
	}
	client := n.openFetch()
	env.Fetch, env.Post = client, client
	n.probes = n.probesOf(env)
	n.showInTraces(env)
	return env, nil
}

// run plays the roles until ctx ends or one of them fails.
func (n *node) run(ctx context.Context, env *role.Env) error {
	n.say(ctx, 0) // before it takes tasks: see [mesh.Mesh.Schema]
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error { return n.mesh.WatchAgents(inner) })
	n.startRules(inner, group, env)
	for _, r := range n.roles {
		group.Go(func() error {
			if err := r.Run(inner, env); err != nil {
				return fmt.Errorf("role %s: %w", r.Name, err)
			}
			return nil
		})
	}
	if n.plays(role.Schedule) {
		group.Go(func() error { return n.mesh.Tend(inner) })
	}
	group.Go(func() error { return n.beat(inner) })
	group.Go(func() error { return n.watch(inner) })
	group.Go(func() error { return memory.Tend(inner) })
	if env.Store != nil && env.Index != nil {
		group.Go(func() error { return n.tellProgress(inner, env) })
	}
	n.running.Store(true)
	n.announce(env)

	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	select {
	case err := <-done:
		return err
	case <-inner.Done():
	}
	n.running.Store(false)
	n.options.Log.Info("stopping: work in hand is being finished", "at_most", drainTime)
	select {
	case err := <-done:
		if err == nil {
			n.options.Log.Info("stopped")
		}
		return err
	case <-time.After(drainTime):
		cause := context.Cause(inner)
		if errors.Is(cause, context.Canceled) {
			cause = nil // we were asked to
		}
		return errors.Join(cause, fmt.Errorf("stopped after %v with work in hand; it will be done again", drainTime))
	}
}

func (n *node) announce(env *role.Env) {
	addr := ""
	if env.Listen != nil {
		addr = env.Listen.Addr().String()
		n.options.Log.Info("console and REST API are at http://" + addr)
	}
	n.options.Log.Info("agent runs", "version", n.options.Version, "roles", role.Names(n.roles))
	if n.options.Ready != nil {
		n.options.Ready(addr)
	}
}

func (n *node) plays(r role.Role) bool {
	return n.needs(func(mine role.Role) bool { return mine.Name == r.Name })
}
