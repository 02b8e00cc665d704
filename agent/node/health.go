package node

import (
	"context"
	"net"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/subjects"
)

// openHealth serves health checks and metrics from now until all else is closed, so that a process that
// starts or stops slowly still passes its liveness check.
func (n *node) openHealth(env *role.Env) error {
	if n.config.Health == "" {
		return nil
	}
	l, err := listen(n.config.Health, "--health")
	if err != nil {
		return err
	}
	loopback := l.Addr().(*net.TCPAddr).IP.IsLoopback()
	server := service.New(service.Deps{Checks: n.checks, Metrics: env.MetricsPage, Token: string(n.config.Token), Log: n.options.Log})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Serve(ctx, l, server.Health(loopback), n.options.Log) }()
	n.closeLater(closer(func() error { cancel(); return <-ended }))
	n.options.Log.Info("health endpoint started", "url", "http://"+l.Addr().String())
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
