// Package api is the role that serves the REST API, the console, and the callback of hubs.
package api

import (
	"context"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/role/work"
	"feedmesh/agent/service"
	"feedmesh/agent/web"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/web/rest"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
)

// Options are the dependencies of this role only.
type Options struct {
	Version     string
	Listen      net.Listener
	Checks      func(ctx context.Context) []wire.Check // readiness of this process's dependencies
	Stalled     func() []string                        // work of the mesh that stands still
	MetricsPage http.Handler
	RuleSets    []service.RuleSetSpec // available rule sets
}

// Run serves the REST API and the console until ctx ends.
func Run(ctx context.Context, env *work.Env, o Options) error {
	answers := service.New(service.Deps{
		Store: env.Store, Index: env.Index, Mesh: env.Mesh, Secrets: env.Secrets, Fetcher: env.Fetch, Checks: o.Checks, Stalled: o.Stalled, RuleSetSpecs: o.RuleSets,
		Decider: func() workbench.Decider { return env.Classifier() },
		Token:   string(env.Config.Token), HealthToken: string(env.Config.HealthToken), Version: o.Version, Now: env.Clock.Now, Log: env.Log,
		Unique: env.Config.Unique,
	})
	defer answers.Close()
	server := rest.New(answers, rest.Options{
		Metrics: o.MetricsPage, CORSOrigins: env.Config.CORS, RequestsPerClient: env.Config.RequestsPerClient, Idempotency: env.Mesh.Responses(),
		TrustedProxies: env.Config.TrustedProxy,
	})
	handler := withHubs(env, greader.NormalizePaths(server.Handler(web.Mounts(answers, server.Login))))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return answers.Imports.Run(ctx) })
	group.Go(func() error { return answers.Jobs.Run(ctx) })
	group.Go(func() error { return answers.Events.Run(ctx) })
	group.Go(func() error { return rest.Serve(ctx, o.Listen, handler, env.Log) })
	return group.Wait()
}
