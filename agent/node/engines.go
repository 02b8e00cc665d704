package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/role"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/meilisearch"
	"feedmesh/storage/postgres"
	"feedmesh/storage/sqlite"
)

// openEngines opens the store and the index as far as the roles need them.
func (n *node) openEngines(ctx context.Context, env *role.Env) error {
	if n.needs(func(r role.Role) bool { return r.Store }) {
		if err := n.whenThere(ctx, func() error { return n.openStore(ctx, env) }); err != nil {
			return err
		}
	}
	if n.needs(func(r role.Role) bool { return r.Index }) {
		if err := n.whenThere(ctx, func() error { return n.openIndex(ctx, env) }); err != nil {
			return err
		}
	}
	if err := n.checkMesh(ctx); err != nil {
		return err
	}
	if env.Store != nil {
		return n.plantStarter(ctx, env)
	}
	return nil
}

// tryEvery is how often it is tried whether an engine is there.
const tryEvery = 2 * time.Second

// whenThere opens an engine as soon as it can be used: an agent that is started
// while its engine is away waits for it, as one does that was there before.
func (n *node) whenThere(ctx context.Context, open func() error) error {
	for waited := false; ; waited = true {
		err := open()
		if !errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		if !waited {
			n.options.Log.Warn("waiting for what the roles need", "err", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tryEvery):
		}
	}
}

func (n *node) openStore(ctx context.Context, env *role.Env) (err error) {
	if url := string(n.config.Store); url != "" {
		env.Store, err = postgres.Open(ctx, url)
	} else {
		env.Store, err = sqlite.Open(ctx, n.path("store.db"))
	}
	if err != nil {
		return err
	}
	n.opened(env.Store)
	n.self.Store, err = env.Store.ID(ctx)
	return err
}

func (n *node) openIndex(ctx context.Context, env *role.Env) (err error) {
	if n.config.Search != "" {
		n.self.Index = "meilisearch"
		env.Index, err = meilisearch.Open(ctx, meilisearchAt(n.config.Search, n.config.SearchKey, n.options.Log))
	} else {
		n.self.Index, err = n.ownIndex()
		if err == nil {
			env.Index, err = n.openBleve()
		}
	}
	if err != nil {
		return err
	}
	n.opened(env.Index)
	return nil
}

// meilisearchAt returns how to reach the server that --search names.
func meilisearchAt(search config.Address, key config.Secret, log *slog.Logger) meilisearch.Options {
	return meilisearch.Options{URL: strings.Replace(string(search), "meilisearch", "http", 1), Key: string(key), Log: log}
}

// CheckStore returns nil if the PostgreSQL that --store names can be used, else
// what is wrong and what to do. It changes nothing.
func CheckStore(ctx context.Context, store config.Address) error {
	return postgres.Check(ctx, string(store))
}

// CheckSearch returns nil if the Meilisearch that --search names can be used,
// else what is wrong and what to do. It changes nothing.
func CheckSearch(ctx context.Context, search config.Address, key config.Secret) error {
	return meilisearch.Check(ctx, meilisearchAt(search, key, nil))
}

// ownIndex names the index of this data folder.
func (n *node) ownIndex() (string, error) {
	path, err := filepath.Abs(n.path("index"))
	if err != nil {
		return "", err
	}
	return n.self.Host + ":" + path, nil
}

// openBleve opens the index of this data folder. One that can't be read is put
// aside and made anew from the store: it holds nothing that the store has not.
func (n *node) openBleve() (storage.Index, error) {
	path := n.path("index")
	index, err := bleve.Open(path)
	if errors.Is(err, bleve.ErrBroken) {
		aside := fmt.Sprintf("%s.broken-%s", path, time.Now().UTC().Format("20060102T150405"))
		n.options.Log.Warn("the index can't be read: it is put aside and made anew", "moved_to", aside, "err", err)
		if err := os.Rename(path, aside); err != nil {
			return nil, fmt.Errorf("put the broken index aside: %w", err)
		}
		index, err = bleve.Open(path)
	}
	if err != nil {
		return nil, err
	}
	return index, nil
}

// checkMesh returns an error if the mesh keeps or finds its items elsewhere: half
// of them here and half there would be found by nobody.
func (n *node) checkMesh(ctx context.Context) error {
	if n.self.Store == "" && n.self.Index == "" {
		return nil // and a crawler's user may not read who is in the mesh
	}
	agents, err := n.mesh.Agents(ctx)
	if err != nil {
		return err
	}
	for _, a := range agents {
		if n.self.Store != "" && a.Store != "" && a.Store != n.self.Store {
			return fmt.Errorf("the mesh keeps its items in a store of agent %s on %s: share it, if it is a PostgreSQL, with --store, or play only roles that need none here, as --roles crawl,prepare,classify",
				a.ID, a.Host)
		}
		if n.self.Index != "" && a.Index != "" && a.Index != n.self.Index {
			return fmt.Errorf("the mesh finds its items by another index, of agent %s on %s (%s, here %s): give all agents one Meilisearch with --search, or play the roles index and api on that agent only",
				a.ID, a.Host, a.Index, n.self.Index)
		}
	}
	return nil
}

// needs reports whether any of the node's roles does.
func (n *node) needs(what func(role.Role) bool) bool { return slices.ContainsFunc(n.roles, what) }
