// Package node runs one process of the mesh. [Run] opens the resources that the roles need (data folder,
// NATS, store, index), runs the roles, and closes everything in reverse order. After ctx ends it takes at
// most 30 seconds to finish work.
package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/memory"
	"feedmesh/agent/mesh"
	"feedmesh/agent/progress"
	"feedmesh/agent/role"
	"feedmesh/agent/role/api"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/work"
	"feedmesh/config"
	"feedmesh/embedded"
	"feedmesh/storage"
	"feedmesh/storage/meilisearch"
	"feedmesh/subjects"
)

// drainTimeout bounds the time to finish work in progress during shutdown.
const drainTimeout = 30 * time.Second

// Run runs a node until ctx ends, and then until work in progress is finished, for at most drainTimeout. Its
// errors are messages for the operator. The configuration must be valid.
func Run(ctx context.Context, c config.Config, o Options) (err error) {
	roles, err := role.Select(c.Roles)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	n := &node{process: process{config: c, options: o, roles: roles, self: subjects.Agent{
		ID: nuid.Next(), Name: cmp.Or(c.Name, host), Host: host, Version: o.Version, Schema: subjects.Schema, Roles: role.Names(roles), Region: c.Region, Started: time.Now().UTC(),
	}}}
	defer func() { err = errors.Join(err, n.close()) }()
	err = n.open(ctx)
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil // stopped during startup
	}
	if err != nil {
		return err
	}
	return n.run(ctx)
}

// A node is a process that runs roles.
type node struct {
	process
	env    *role.Env        // of the roles
	server *embedded.Server // nil with an external NATS server
	api    *apiServer       // nil without the role api
	rules  *ruleSets
	late   *meilisearch.Late // the index of a server that was away at the start; else nil
	health health

	encrypted *tls.Config // of the listeners; nil without TLS
}

// open opens the resources that the roles need, first those most likely in use by another process, so that a
// failure leaves nothing half done.
func (n *node) open(ctx context.Context) (err error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), agentInfo(n.self))
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	n.env = &role.Env{
		Env: &work.Env{
			Config: n.config, Clock: n.options.Clock, Uptime: n.uptime(), Log: n.options.Log, Metrics: registry,
			Workers: max(2, runtime.GOMAXPROCS(0)), CheckDiskSpace: n.checkIntake,
		},
		Options: api.Options{Version: n.options.Version, Checks: n.health.checks, Stalled: n.health.stalled, DiskSpace: n.checkWritable, MetricsPage: metrics},
	}
	n.rules = newRuleSets(&n.process, n.env)
	n.env.RuleSets = n.rules.specs()
	if n.encrypted, err = n.openTLS(); err != nil {
		return err
	}
	if err := n.health.serve(&n.process, metrics, n.encrypted); err != nil {
		return err
	}
	if n.env.Trace, err = n.openTrace(); err != nil {
		return err
	}
	if n.needs(func(r role.Role) bool { return r.Listens }) {
		if n.api, err = n.openAPI(n.health.server(&n.process, metrics)); err != nil {
			return err
		}
		n.env.Serve = n.api.serve
	}
	if n.needsData() {
		if err := n.openData(); err != nil {
			return err
		}
	}
	if err := n.openMesh(ctx); err != nil {
		return err
	}
	engines := engines{&n.process, n.env, &n.health.startup}
	if err := engines.open(ctx); err != nil {
		return err
	}
	n.late, _ = n.env.Index.(*meilisearch.Late)
	if err := n.addBackups(); err != nil {
		return err
	}
	n.env.Secrets = openSecrets(n.config, n.env.Store)
	client := fetch.New(fetchOptions(n.config, n.options.Version))
	n.closeLater(closer(func() error { client.Close(); return nil }))
	public := fetch.New(publicOptions(n.config, n.options.Version))
	n.closeLater(closer(func() error { public.Close(); return nil }))
	n.env.Fetch, n.env.Post, n.env.Public = client, client, public
	n.env.Receivers = client.Transport()
	if len(n.certificates) > 0 {
		n.health.certificates = n.certificates.check
	}
	n.health.probes, n.health.backups = newProbes(&n.process, n.server, n.env), n.env.Backups
	if n.needs(func(r role.Role) bool { return r.Listens }) {
		n.health.watch = progress.New(role.Serving())
	}
	addTracing(n.env)
	return nil
}

// checkIntake returns why no new documents can be stored: a damaged store or a full disk.
func (n *node) checkIntake() error {
	if damage := n.health.damage.Load(); damage != nil {
		return *damage
	}
	return n.checkDiskSpace()
}

// openMesh starts the embedded NATS server if needed, and joins the mesh.
func (n *node) openMesh(ctx context.Context) error {
	if len(n.config.NATS) > 0 {
		return n.health.startup.await(ctx, n.options.Log, outside("mesh", "NATS", n.config.NATS...), func() error {
			conn, err := ConnectNATS(n.config.NATS, n.config.NATSLogin, n.natsOptions()...)
			if err != nil {
				return err
			}
			return n.join(ctx, conn)
		})
	}
	var err error
	if n.server, err = n.startNATS(); err != nil {
		return err
	}
	n.closeLater(n.server)
	options := n.natsOptions()
	if n.isAlone() {
		options = append(options, nats.PingInterval(alonePing))
	}
	conn, err := n.server.Connect(options...)
	if err != nil {
		return err
	}
	return n.health.startup.await(ctx, n.options.Log, theMesh, func() error { return n.join(ctx, conn) })
}

// isAlone reports whether no other process uses the NATS server, which is embedded in this one.
func (n *node) isAlone() bool { return n.server != nil && n.config.Servers.Listen == "" }

// join joins the mesh over a connection.
func (n *node) join(ctx context.Context, conn *nats.Conn) (err error) {
	n.closeLater(closer(func() error { conn.Close(); return nil }))
	n.env.Mesh, err = mesh.Join(ctx, mesh.Options{
		Agent: n.self.ID, Conn: conn, Alone: n.isAlone(), Partitions: n.config.Schedule.Partitions, Domain: n.config.NATSLogin.NATSDomain, Log: n.options.Log, Trace: n.env.Trace, Metrics: n.env.Metrics,
		Unavailable: func(err error) bool {
			return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrDamaged)
		},
		Waiting: n.health.startup.failed,
	})
	return err
}

// run runs the roles until ctx ends or a role fails.
func (n *node) run(ctx context.Context) error {
	env, beat := n.env, heartbeat{&n.process, n.env.Mesh, n.rules}
	beat.publish(ctx, 0) // before it fetches tasks: see [mesh.Mesh.Schema]
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() error { return env.Mesh.WatchAgents(inner) })
	n.rules.start(inner, group)
	for _, r := range n.roles {
		group.Go(func() error {
			if err := r.Run(inner, env); err != nil {
				return fmt.Errorf("role %s: %w", r.Name, err)
			}
			return nil
		})
	}
	group.Go(func() error { return beat.run(inner) })
	group.Go(func() error { return watch(inner, &n.process, n.server) })
	group.Go(func() error { return memory.Tend(inner) })
	if n.late != nil {
		group.Go(func() error { return n.late.Open(inner, retryInterval) })
	}
	n.certificates.start(inner, group)
	if n.health.watch != nil {
		group.Go(func() error { return n.health.watchProgress(inner, env.Mesh, env.Metrics, n.options.Log) })
	}
	if env.Store != nil || env.Index != nil {
		group.Go(func() error { return n.health.watchEngines(inner, env, n.options.Log) })
	}
	if env.Store != nil && env.Index != nil {
		group.Go(func() error { return logProgress(inner, env) })
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	if n.api != nil {
		select {
		case <-n.api.serving:
		case <-inner.Done():
		}
	}
	if inner.Err() == nil {
		n.health.phase.Store(phaseRunning)
		n.announce()
	}
	select {
	case err := <-done:
		return err
	case <-inner.Done():
	}
	n.health.phase.Store(phaseStopping)
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

func (n *node) announce() {
	addr := ""
	if n.api != nil {
		addr = n.api.listener.Addr().String()
		n.options.Log.Info("console and REST API started", "url", scheme(n.encrypted)+"://"+addr)
	}
	n.options.Log.Info("agent started", "version", n.options.Version, "roles", role.Names(n.roles))
	if n.options.Ready != nil {
		n.options.Ready(addr)
	}
}
