package node

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"

	"feedmesh/agent/api"
	"feedmesh/agent/opml"
	"feedmesh/agent/role"
)

//go:embed starter.opml
var starter []byte

// plantStarter gives an empty store its first feeds, if that is wished.
func (n *node) plantStarter(ctx context.Context, env *role.Env) error {
	if n.config.Simulate > 0 {
		return n.plantFarm(ctx, env)
	}
	if !n.config.Starter {
		return nil
	}
	counts, err := env.Store.Counts(ctx)
	if err != nil || counts.Feeds > 0 {
		return err
	}
	feeds, err := opml.Read(bytes.NewReader(starter))
	if err != nil {
		return fmt.Errorf("read the starter list: %w", err)
	}
	if _, err := api.TakeIn(ctx, env.Store, n.mesh, feeds, env.Clock.Now()); err != nil {
		return err
	}
	n.options.Log.Info("the store is empty: it begins with a starter list (--starter=false would leave it empty)", "feeds", len(feeds))
	return nil
}
