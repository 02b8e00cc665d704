package role

import (
	"context"

	"feedmesh/agent/api"
	"feedmesh/agent/console"
)

// API serves REST and the console.
var API = Role{
	Name:  "api",
	Does:  "serves REST and the console: search, feeds, the state of the mesh",
	Store: true,
	Index: true,
	Run: func(ctx context.Context, env *Env) error {
		server := api.New(api.Deps{
			Store: env.Store, Index: env.Index, Mesh: env.Mesh, Checks: env.Checks, Metrics: env.MetricsPage,
			Token: string(env.Config.Token), Version: env.Version, Now: env.Clock.Now, Log: env.Log,
		})
		defer server.Close()
		return api.Serve(ctx, env.Listen, server.Handler(console.Handler(server)), env.Log)
	},
}
