// Package api is the role that serves the REST API, the console, and the callback of hubs.
package api

import (
	"context"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/role/work"
	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
)

// Options are the dependencies of this role only.
type Options struct {
	Version     string
	Listen      net.Listener
	Checks      func(ctx context.Context) []wire.Check // readiness of this process's dependencies
	MetricsPage http.Handler
	RuleSets    []service.RuleSetSpec // available rule sets
}

// Run serves the REST API and the console until ctx ends.
func Run(ctx context.Context, env *work.Env, o Options) error {
	server := service.New(service.Deps{
		Store: env.Store, Index: env.Index, Mesh: env.Mesh, Fetcher: env.Fetch, Checks: o.Checks, Metrics: o.MetricsPage, RuleSetSpecs: o.RuleSets,
		Decider: func() workbench.Decider { return env.Classifier() },
		Token:   string(env.Config.Token), CORSOrigins: env.Config.CORS, RequestsPerClient: env.Config.RequestsPerClient, Idempotency: env.Mesh.Responses(), Version: o.Version, Now: env.Clock.Now, Log: env.Log,
	})
	defer server.Close()
	handler := withHubs(env, greader.NormalizePaths(server.Handler(console.Handler(server))))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Imports.Run(ctx) })
	group.Go(func() error { return server.Jobs.Run(ctx) })
	group.Go(func() error { return server.Events.Run(ctx) })
	group.Go(func() error { return service.Serve(ctx, o.Listen, handler, env.Log) })
	return group.Wait()
}
