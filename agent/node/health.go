package node

import (
	"context"
	"net"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
	"feedmesh/subjects"
)

// openHealth serves what machines ask of this process, from now until all else
// is closed: a process that starts or ends slowly is alive.
func (n *node) openHealth(env *role.Env) error {
	if n.config.Health == "" {
		return nil
	}
	l, err := listen(n.config.Health, "--health")
	if err != nil {
		return err
	}
	loopback := l.Addr().(*net.TCPAddr).IP.IsLoopback()
	server := api.New(api.Deps{Checks: n.checks, Metrics: env.MetricsPage, Token: string(n.config.Token), Log: n.options.Log})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- api.Serve(ctx, l, server.Health(loopback), n.options.Log) }()
	n.opened(closer(func() error { cancel(); return <-ended }))
	n.options.Log.Info("health and metrics are served", "url", "http://"+l.Addr().String())
	return nil
}

// agentInfo is the metric that names what this process is.
func agentInfo(a subjects.Agent) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "feedmesh_agent_info",
		Help:        "What this agent is: always 1, with its version and roles.",
		ConstLabels: prometheus.Labels{"version": a.Version, "roles": strings.Join(a.Roles, ",")},
	}, func() float64 { return 1 })
}
