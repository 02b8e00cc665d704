package role

import (
	"context"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/workbench"
)

// API serves the REST API and the console.
var API = Role{
	Name:        "api",
	Description: "serve the REST API and the console: search, feeds, mesh status",
	Store:       true,
	Index:       true,
	Run: func(ctx context.Context, env *Env) error {
		server := service.New(service.Deps{
			Store: env.Store, Index: env.Index, Mesh: env.Mesh, Fetcher: env.Fetch, Checks: env.Checks, Metrics: env.MetricsPage, RuleSetSpecs: env.RuleSets,
			Decider: func() workbench.Decider { return env.Classifier() },
			Token:   string(env.Config.Token), CORSOrigins: env.Config.CORS, RequestsPerClient: env.Config.RequestsPerClient, Idempotency: env.Mesh.Responses(), Version: env.Version, Now: env.Clock.Now, Log: env.Log,
		})
		defer server.Close()
		handler := withHubs(env, greader.NormalizePaths(server.Handler(console.Handler(server))))
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return server.RunImports(ctx) })
		group.Go(func() error { return server.RunJobs(ctx) })
		group.Go(func() error { return server.RunStreams(ctx) })
		group.Go(func() error { return service.Serve(ctx, env.Listen, handler, env.Log) })
		return group.Wait()
	},
}
