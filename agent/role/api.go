package role

import (
	"context"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/api"
	"feedmesh/agent/console"
	"feedmesh/agent/greader"
	"feedmesh/agent/workbench"
)

// API serves REST and the console.
var API = Role{
	Name:  "api",
	Does:  "serves REST and the console: search, feeds, the state of the mesh",
	Store: true,
	Index: true,
	Run: func(ctx context.Context, env *Env) error {
		server := api.New(api.Deps{
			Store: env.Store, Index: env.Index, Mesh: env.Mesh, Fetch: env.Fetch, Checks: env.Checks, Metrics: env.MetricsPage, Rulebooks: env.Rulebooks,
			Decider: func() workbench.Decider { return env.Classifier() },
			Token:   string(env.Config.Token), CORS: env.Config.CORS, RequestsPerClient: env.Config.RequestsPerClient, Answers: env.Mesh.Answers(), Version: env.Version, Now: env.Clock.Now, Log: env.Log,
		})
		defer server.Close()
		handler := withHubs(env, greader.Tidy(server.Handler(console.Handler(server))))
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return server.RunImports(ctx) })
		group.Go(func() error { return server.RunJobs(ctx) })
		group.Go(func() error { return server.RunStreams(ctx) })
		group.Go(func() error { return api.Serve(ctx, env.Listen, handler, env.Log) })
		return group.Wait()
	},
}
