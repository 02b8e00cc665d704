// Package node runs one process of the mesh. [Run] opens the resources that the roles need (data folder,
// NATS, store, index), runs the roles, and closes everything in reverse order. After ctx ends it takes at
// most 30 seconds to finish work.
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
	"feedmesh/agent/role/api"
	"feedmesh/agent/role/work"
	"feedmesh/agent/trace"
	"feedmesh/config"
	"feedmesh/embedded"
	"feedmesh/subjects"
)

// drainTimeout bounds the time to finish work in progress during shutdown.
const drainTimeout = 30 * time.Second

// Options are the parameters of [Run] besides the configuration.
type Options struct {
	Version string
	Log     *slog.Logger
	Clock   work.Clock        // nil: the real clock
	Ready   func(addr string) // called once when all roles run, with the API's address; may be nil
}

// Run runs a node until ctx ends, and then until work in progress is finished, for at most drainTimeout. Its
// errors are messages for the operator. The configuration must be valid.
func Run(ctx context.Context, c config.Config, o Options) (err error) {
	roles, err := role.Select(c.Roles)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	n := &node{config: c, options: o, roles: roles, registry: prometheus.NewRegistry(), beatNow: make(chan struct{}, 1), self: subjects.Agent{
		ID: nuid.Next(), Host: host, Version: o.Version, Schema: subjects.Schema, Roles: role.Names(roles), Started: time.Now().UTC(),
	}}
	defer func() { err = errors.Join(err, n.close()) }()
	env, err := n.open(ctx)
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil // stopped during startup
	}
	if err != nil {
		return err
	}
	return n.run(ctx, env)
}

// node is one process of the mesh.
type node struct {
	config   config.Config
	options  Options
	roles    []role.Role
	registry *prometheus.Registry
	self     subjects.Agent // heartbeat record of this process

	server    *embedded.Server // nil with an external NATS server
	mesh      *mesh.Mesh
	trace     *trace.Tracer // nil without tracing
	resources []io.Closer   // open resources in the order of opening
	rules     []*ruleSet
	beatNow   chan struct{} // requests an immediate heartbeat

	running atomic.Bool // all roles run, and no shutdown was requested
	probes  []*probe    // checks of their dependencies, set once running
}

// closer adapts a function to [io.Closer].
type closer func() error

func (c closer) Close() error { return c() }

func (n *node) closeLater(c io.Closer) { n.resources = append(n.resources, c) }

// close closes the open resources in reverse order.
func (n *node) close() error {
	var faults []error
	for i := len(n.resources) - 1; i >= 0; i-- {
		faults = append(faults, n.resources[i].Close())
	}
	return errors.Join(faults...)
}

// open opens the resources that the roles need, first those most likely in use by another process, so that a
// failure leaves nothing half done.
func (n *node) open(ctx context.Context) (*role.Env, error) {
	n.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), agentInfo(n.self))
	env := &role.Env{
		Env: &work.Env{
			Config: n.config, Clock: n.options.Clock, Log: n.options.Log, Metrics: n.registry,
			Workers: max(2, runtime.GOMAXPROCS(0)), CheckDiskSpace: n.checkDiskSpace,
		},
		Options: api.Options{
			Version: n.options.Version, Checks: n.checks, MetricsPage: promhttp.HandlerFor(n.registry, promhttp.HandlerOpts{}),
		},
	}
	n.rules = newRuleSets(env)
	env.RuleSets = n.ruleSetSpecs()
	if err := n.openHealth(env); err != nil {
		return nil, err
	}
	if err := n.openTrace(); err != nil {
		return nil, err
	}
	var err error
	if n.needs(func(r role.Role) bool { return r.Listens }) {
		if env.Listen, err = listen(n.config.Listen, "--listen"); err != nil {
			return nil, err
		}
		n.closeLater(closer(func() error { env.Listen.Close(); return nil })) // the role closes it, if it starts
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
	n.addTracing(env)
	return env, nil
}

// run runs the roles until ctx ends or a role fails.
func (n *node) run(ctx context.Context, env *role.Env) error {
	n.publishHeartbeat(ctx, 0) // before it fetches tasks: see [mesh.Mesh.Schema]
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
	group.Go(func() error { return n.heartbeats(inner) })
	group.Go(func() error { return n.watch(inner) })
	group.Go(func() error { return memory.Tend(inner) })
	if env.Store != nil && env.Index != nil {
		group.Go(func() error { return n.logStartupProgress(inner, env) })
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
	n.options.Log.Info("shutdown started, work in progress finishes", "at_most", drainTimeout)
	select {
	case err := <-done:
		if err == nil {
			n.options.Log.Info("stopped")
		}
		return err
	case <-time.After(drainTimeout):
		cause := context.Cause(inner)
		if errors.Is(cause, context.Canceled) {
			cause = nil // a requested shutdown
		}
		return errors.Join(cause, fmt.Errorf("stopped after %v with unfinished work, which will be repeated", drainTimeout))
	}
}

func (n *node) announce(env *role.Env) {
	addr := ""
	if env.Listen != nil {
		addr = env.Listen.Addr().String()
		n.options.Log.Info("console and REST API started", "url", "http://"+addr)
	}
	n.options.Log.Info("agent started", "version", n.options.Version, "roles", role.Names(n.roles))
	if n.options.Ready != nil {
		n.options.Ready(addr)
	}
}
