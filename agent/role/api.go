package role

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

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
		web := &http.Server{
			Handler:           server.Handler(console.Handler(server)),
			ReadHeaderTimeout: 10 * time.Second,
			IdleTimeout:       2 * time.Minute,
			MaxHeaderBytes:    64 << 10,
			ErrorLog:          slog.NewLogLogger(env.Log.Handler(), slog.LevelDebug),
		}
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error {
			if err := web.Serve(env.Listen); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
		group.Go(func() error {
			<-ctx.Done()
			// Requests under way are answered; slow ones for ten seconds.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			if web.Shutdown(ctx) != nil {
				return web.Close()
			}
			return nil
		})
		group.Go(func() error { return watchQueues(ctx, env) })
		return group.Wait()
	},
}

// watchQueues sets the gauges of what waits, for whoever reads the metrics.
func watchQueues(ctx context.Context, env *Env) error {
	return every(ctx, measureEvery, func(ctx context.Context) error {
		depths, err := env.Mesh.Depths(ctx)
		if err != nil {
			return nil // readiness tells of it
		}
		for _, d := range depths {
			env.Metrics.queuePending.WithLabelValues(d.Queue).Set(float64(d.Tasks))
			env.Metrics.queueOldest.WithLabelValues(d.Queue).Set(d.Oldest)
		}
		return nil
	})
}
