package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/backup"
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
	phase   atomic.Int32             // a phase
	startup startup                  // what the start waits for
	probes  []*probe                 // checks of the dependencies, set before phaseRunning
	watch   *progress.Watch          // of the mesh; nil without a role that may read its queues and leases
	faults  atomic.Pointer[[]string] // failing checks of the store and the index
	damage  atomic.Pointer[error]    // damage of the store
	backups *backup.Schedule         // set like watch; nil: no backups are scheduled

	certificates func(now time.Time) error // checks them; nil without any
}

// The phases of a node.
const (
	phaseStarting int32 = iota
	phaseRunning        // all roles run
	phaseStopping       // the shutdown was requested
)

// reason returns why the API is not served, as a sentence; details include the hosts of dependencies.
func (h *health) reason(details bool) string {
	if h.phase.Load() == phaseStopping {
		return "feedmesh is stopping"
	}
	w, waits := h.startup.wait()
	switch {
	case !waits:
		return "feedmesh is starting"
	case details:
		return "feedmesh is starting: " + w.full() + "; /readyz states the error"
	}
	return "feedmesh is starting: " + w.brief()
}

// checks runs all checks concurrently.
func (h *health) checks(ctx context.Context) []wire.Check {
	switch h.phase.Load() {
	case phaseStarting:
		checks := []wire.Check{result("agent", errors.New("starting"))}
		if w, waits := h.startup.wait(); waits {
			checks = append(checks, wire.Check{Name: w.check, Detail: w.detail()})
		}
		return checks
	case phaseStopping:
		return []wire.Check{result("agent", errors.New("stopping"))}
	}
	checks := make([]wire.Check, len(h.probes))
	var group sync.WaitGroup
	for i, p := range h.probes {
		group.Go(func() { checks[i] = p.check(ctx) })
	}
	group.Wait()
	if h.certificates != nil {
		c := result("certificate", h.certificates(time.Now()))
		c.Warning = !c.OK
		checks = append(checks, c)
	}
	if h.watch != nil {
		c := result("progress", nil)
		if work := h.stalledWork(); len(work) > 0 {
			c = wire.Check{Name: c.Name, Detail: strings.Join(work, "; "), Warning: true}
		}
		checks = append(checks, c)
	}
	if h.backups != nil {
		checks = append(checks, h.backups.Check())
	}
	return checks
}

// stalled returns what keeps work from going on, backups included, since when, and what to do.
func (h *health) stalled() []string {
	texts := slices.Concat(h.engineFaults(), h.stalledWork())
	if state := h.backups.State(); state != nil && state.Problem != "" {
		texts = append(texts, state.Problem)
	}
	return texts
}

// stalledWork returns the work of the mesh that stands still, since when, and what to do.
func (h *health) stalledWork() []string {
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
		if s.Depths, err = m.RecentDepths(ctx, mesh.DepthAge); err == nil {
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

// server returns the server of the operational endpoints, which needs no engine.
func (h *health) server(p *process, metrics http.Handler) *rest.Server {
	return rest.New(service.New(service.Deps{
		Checks: h.checks, Token: string(p.config.Token), HealthToken: string(p.config.HealthToken), Log: p.options.Log,
	}), rest.Options{Metrics: metrics, TrustedProxies: p.config.TrustedProxy, HSTS: p.config.TLS.ACMEHost != ""})
}

// serve serves health checks and metrics from now until all else is closed, so that a process that starts or
// stops slowly still passes its liveness check. On loopback addresses they are not encrypted.
func (h *health) serve(p *process, metrics http.Handler, encrypted *tls.Config) error {
	if p.config.Health == "" {
		return nil
	}
	address, err := net.ResolveTCPAddr("tcp", p.config.Health)
	loopback := err == nil && address.IP.IsLoopback()
	if loopback {
		encrypted = nil
	}
	l, err := p.listen(p.config.Health, "--health", encrypted)
	if err != nil {
		return err
	}
	server := h.server(p, metrics)
	server.TokensOnly = p.config.HealthToken != ""
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- rest.Serve(ctx, l, server.Health(loopback), p.options.Log) }()
	p.closeLater(closer(func() error { cancel(); return <-ended }))
	p.options.Log.Info("health endpoint started", "url", scheme(encrypted)+"://"+l.Addr().String())
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
