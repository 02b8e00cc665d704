package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"feedmesh/agent/api"
	"feedmesh/agent/role"
	"feedmesh/storage/bleve"
	"feedmesh/storage/sqlite"
)

// openEngines opens the store and the index as far as the roles need them.
func (n *node) openEngines(ctx context.Context, env *role.Env) error {
	if n.needs(func(r role.Role) bool { return r.Store }) {
		store, err := sqlite.Open(ctx, n.path("store.db"))
		if err != nil {
			return err
		}
		n.opened(store)
		env.Store = store
		if err := n.checkStore(ctx, env); err != nil {
			return err
		}
		if err := n.plantStarter(ctx, env); err != nil {
			return err
		}
	}
	if n.needs(func(r role.Role) bool { return r.Index }) {
		return n.openIndex(ctx, env)
	}
	return nil
}

// checkStore returns an error if the mesh keeps its items elsewhere: half of
// them here and half there would be found by nobody.
func (n *node) checkStore(ctx context.Context, env *role.Env) (err error) {
	if n.store, err = env.Store.ID(ctx); err != nil {
		return err
	}
	agents, err := n.mesh.Agents(ctx)
	if err != nil {
		return err
	}
	for _, a := range agents {
		if a.Store != "" && a.Store != n.store {
			return fmt.Errorf("the mesh keeps its items in a store of agent %s on %s: play only roles that need none here, as --roles crawl,prepare,classify",
				a.ID, a.Host)
		}
	}
	return nil
}

// openIndex opens the index. One that can't be read is put aside and made anew
// from the store: it holds nothing that the store has not.
func (n *node) openIndex(ctx context.Context, env *role.Env) error {
	path := n.path("index")
	index, err := bleve.Open(path)
	if errors.Is(err, bleve.ErrBroken) {
		aside := fmt.Sprintf("%s.broken-%s", path, time.Now().UTC().Format("20060102T150405"))
		n.options.Log.Warn("the index can't be read: it is put aside and made anew", "moved_to", aside, "err", err)
		if err := os.Rename(path, aside); err != nil {
			return fmt.Errorf("put the broken index aside: %w", err)
		}
		index, err = bleve.Open(path)
	}
	if err != nil {
		return err
	}
	n.opened(index)
	env.Index = index
	counts, err := env.Store.Counts(ctx)
	if err != nil {
		return err
	}
	indexed, err := index.Count(ctx)
	if err != nil {
		return err
	}
	if indexed == 0 && counts.Items > 0 {
		// Until all is queued: after a crash the index would no longer be empty.
		err = os.WriteFile(n.unfilled(), nil, 0o600)
	}
	return err
}

// unfilled returns the path of a file that is there while the index lacks items
// which are not queued to be indexed.
func (n *node) unfilled() string { return n.path("index.unfilled") }

// fillIndex queues all items of the store if the index was found empty.
func (n *node) fillIndex(ctx context.Context, env *role.Env) error {
	if _, err := os.Stat(n.unfilled()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	n.options.Log.Info("the index is empty: it is made anew from the store")
	if err := api.Requeue(ctx, n.mesh, "filled "+n.id, env.Store.ItemIDs, nil); err != nil {
		if ctx.Err() != nil {
			return nil // the next start begins again
		}
		return fmt.Errorf("fill the index: %w", err)
	}
	return os.Remove(n.unfilled())
}

// needs reports whether any of the node's roles does.
func (n *node) needs(what func(role.Role) bool) bool { return slices.ContainsFunc(n.roles, what) }
