package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/metric"
	"feedmesh/agent/progress"
	"feedmesh/agent/role/work"
	"feedmesh/agent/service"
	"feedmesh/agent/web/rest"
	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// health is the state of a node as its health checks report it.
type health struct {
	running atomic.Bool     // all roles run, and no shutdown was requested
	probes  []*probe        // checks of their dependencies, set once running
	watch   *progress.Watch // of the mesh; nil without a role that may read its queues and leases
}

// checks runs all checks concurrently.
func (h *health) checks(ctx context.Context) []wire.Check {
	if !h.running.Load() {
		return []wire.Check{result("agent", errors.New("starting or stopping"))}
	}
	checks := make([]wire.Check, len(h.probes))
	var group sync.WaitGroup
	for i, p := range h.probes {
		group.Go(func() { checks[i] = p.check(ctx) })
	}
	group.Wait()
	if h.watch != nil {
		c := result("progress", nil)
		if stands := h.stalled(); len(stands) > 0 {
			c = wire.Check{Name: c.Name, Detail: strings.Join(stands, "; "), Warning: true}
		}
		checks = append(checks, c)
	}
	return checks
}

// stalled returns the work of the mesh that stands still, since when, and what to do.
func (h *health) stalled() []string {
	if h.watch == nil {
		return nil
	}
	var texts []string
	for _, p := range h.watch.Problems() {
		texts = append(texts, fmt.Sprintf("since %s UTC: %s", p.Since.UTC().Format("15:04:05"), p.What+": "+p.Remedy))
	}
	return texts
}

// watchProgress compares the state of the mesh with its former states, until ctx ends.
func (h *health) watchProgress(ctx context.Context, m *mesh.Mesh, registry prometheus.Registerer, log *slog.Logger) error {
	stalled := metric.Gauges(registry, "feedmesh_stalled", "Kinds of work in the mesh that stand still; readiness lists them.")
	known := map[string]bool{}
	return work.RepeatEvery(ctx, watchInterval, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, watchInterval)
		defer cancel()
		var s progress.Snapshot
		var err error
		if s.Depths, err = m.Depths(ctx); err == nil {
			s.Leases, err = m.Leases(ctx)
		}
		if err == nil {
			s.Agents, err = m.Agents(ctx)
		}
		if err != nil {
			return nil // the check of the mesh reports it
		}
		h.watch.Observe(s, time.Now())
		problems := h.watch.Problems()
		stalled.WithLabelValues().Set(float64(len(problems)))
		current := map[string]bool{}
		for _, p := range problems {
			if current[p.What] = true; !known[p.What] {
				log.Warn("work stands still", "since", p.Since, "what", p.What, "remedy", p.Remedy)
			}
		}
		for what := range known {
			if !current[what] {
				log.Info("work continues", "what", what)
			}
		}
		known = current
		return nil
	})
}

// serve serves health checks and metrics from now until all else is closed, so that a process that starts or
// stops slowly still passes its liveness check.
func (h *health) serve(p *process, metrics http.Handler) error {
	if p.config.Health == "" {
		return nil
	}
	l, err := listen(p.config.Health, "--health")
	if err != nil {
		return err
	}
	loopback := l.Addr().(*net.TCPAddr).IP.IsLoopback()
	server := rest.New(service.New(service.Deps{Checks: h.checks, Token: string(p.config.Token), HealthToken: string(p.config.HealthToken), Log: p.options.Log}),
		rest.Options{Metrics: metrics, TrustedProxies: p.config.TrustedProxy, TokensOnly: p.config.HealthToken != ""})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- rest.Serve(ctx, l, server.Health(loopback), p.options.Log) }()
	p.closeLater(closer(func() error { cancel(); return <-ended }))
	p.options.Log.Info("health endpoint started", "url", "http://"+l.Addr().String())
	return nil
}

// agentInfo is the metric with the agent's version and roles as labels.
func agentInfo(a subjects.Agent) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "feedmesh_agent_info",
		Help:        "Information about this agent: always 1, with version and roles as labels.",
		ConstLabels: prometheus.Labels{"version": a.Version, "roles": strings.Join(a.Roles, ",")},
	}, func() float64 { return 1 })
}

// listen listens on the address of a flag.
func listen(addr, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use: if another agent runs there, stop it; else choose another address with %s", addr, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no permission to listen on %s: choose a port above 1023 with %s", addr, flag)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w: choose another address with %s", addr, err, flag)
	}
	return l, nil
}
