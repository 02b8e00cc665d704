package node

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"

	"feedmesh/agent/opml"
	"feedmesh/agent/role"
	"feedmesh/agent/service"
	"feedmesh/storage"
)

//go:embed starter.opml
var starter []byte

// importStarter imports the starter feeds into an empty store, if configured.
func importStarter(ctx context.Context, p *process, env *role.Env) error {
	if p.config.Simulate > 0 {
		return startSimulation(ctx, p, env)
	}
	if !p.config.Starter {
		return nil
	}
	counts, err := env.Store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil || counts.Feeds > 0 {
		return err
	}
	feeds, err := opml.Read(bytes.NewReader(starter))
	if err != nil {
		return fmt.Errorf("read the starter list: %w", err)
	}
	if _, err := service.ImportFeeds(ctx, env.Store, env.Mesh, feeds, env.Clock.Now()); err != nil {
		return err
	}
	p.options.Log.Info("starter feeds imported into the empty store (disable with --starter=false)", "feeds", len(feeds))
	return nil
}
