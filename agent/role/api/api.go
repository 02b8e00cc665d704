// Package api is the role that serves the REST API, the console, and the callback of hubs.
package api

import (
	"context"
	"net/http"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/access"
	"feedmesh/agent/access/oidc"
	"feedmesh/agent/backup"
	"feedmesh/agent/role/deliver"
	"feedmesh/agent/role/work"
	"feedmesh/agent/service"
	"feedmesh/agent/service/briefing"
	"feedmesh/agent/web"
	"feedmesh/agent/web/greader"
	"feedmesh/agent/web/rest"
	"feedmesh/agent/wire"
	"feedmesh/agent/workbench"
)

// Options are the dependencies of this role only.
type Options struct {
	Version     string
	Serve       func(ctx context.Context, h http.Handler) error // serves the API's address until ctx ends, and finishes requests in progress
	Checks      func(ctx context.Context) []wire.Check          // readiness of this process's dependencies
	Stalled     func() []string                                 // work of the mesh that stands still
	DiskSpace   func() error                                    // returns an error if the disk is too full for changes
	MetricsPage http.Handler
	RuleSets    []service.RuleSetSpec                        // available rule sets
	MakeBackup  func(context.Context) (wire.Download, error) // of store and schedule
	BackupState func() *wire.BackupState
	Backups     *backup.Schedule // nil: no backups are scheduled
}

// Run serves the REST API and the console until ctx ends.
func Run(ctx context.Context, env *work.Env, o Options) error {
	channels, err := deliver.Channels(env.Config.Mail, string(env.Config.PublicURL), env.Receivers, env.Mesh, env.Clock.Now)
	if err != nil {
		return err
	}
	answers := service.New(service.Deps{
		Store: env.Store, Index: env.Index, Mesh: env.Mesh, Channels: channels, Secrets: env.Secrets, Fetcher: env.Fetch, PublicFetcher: env.Public, Checks: o.Checks, Stalled: o.Stalled, DiskSpace: o.DiskSpace, RuleSetSpecs: o.RuleSets,
		Decider: func() workbench.Decider { return env.Classifier() }, Prepare: env.Prepare,
		Token: string(env.Config.Token), HealthToken: string(env.Config.HealthToken), Version: o.Version, Now: env.Clock.Now, Log: env.Log,
		OIDC: oidc.Options{
			Issuer: string(env.Config.OIDC.Issuer), ClientID: env.Config.OIDC.ClientID, Secret: string(env.Config.OIDC.ClientSecret), Role: access.Role(env.Config.OIDC.PersonRole()),
		},
		Briefing: briefing.Options{
			URL: string(env.Config.Briefing.URL), Model: env.Config.Briefing.Model, Key: string(env.Config.Briefing.Key), Daily: env.Config.Briefing.Daily, Metrics: env.Metrics,
		},
		PictureCache: filepath.Join(env.Config.Data, "pictures"),
		Unique:       env.Config.Unique, MakeBackup: o.MakeBackup, BackupState: o.BackupState,
	})
	defer answers.Close()
	server := rest.New(answers, rest.Options{
		Metrics: o.MetricsPage, CORSOrigins: env.Config.CORS, RequestsPerClient: env.Config.RequestsPerClient, Idempotency: env.Mesh.Responses(),
		TrustedProxies: env.Config.TrustedProxy, PersonHeader: env.Config.PersonHeader, Public: web.Public(), HSTS: env.Config.TLS.ACMEHost != "",
	})
	handler := withHubs(env, greader.NormalizePaths(server.Handler(web.Mounts(answers, web.Logins{Reader: server.Login, Fever: server.FeverLogin}, server.CORSOrigins))))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return answers.Imports.Run(ctx) })
	group.Go(func() error { return answers.Jobs.Run(ctx) })
	group.Go(func() error { return answers.Views.ConvertSearches(ctx) })
	group.Go(func() error { return answers.Events.Run(ctx) })
	group.Go(func() error { return o.Backups.Run(ctx) })
	group.Go(func() error { return o.Serve(ctx, handler) })
	return group.Wait()
}
