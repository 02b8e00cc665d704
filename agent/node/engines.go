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

// openEngines opens the store and the index that the roles need.
func (n *node) openEngines(ctx context.Context, env *role.Env) error {
	if n.needs(func(r role.Role) bool { return r.Store }) {
		if err := n.openWithRetry(ctx, func() error { return n.openStore(ctx, env) }); err != nil {
			return err
		}
	}
	if n.needs(func(r role.Role) bool { return r.Index }) {
		if err := n.openWithRetry(ctx, func() error { return n.openIndex(ctx, env) }); err != nil {
			return err
		}
	}
	if err := n.checkMesh(ctx); err != nil {
		return err
	}
	if env.Store != nil {
		return n.importStarter(ctx, env)
	}
	return nil
}

// retryInterval is the delay between retries to open an engine.
const retryInterval = 2 * time.Second

// openWithRetry opens an engine, and retries while the engine is unavailable: an agent started during an outage
// waits like the agents that run already.
func (n *node) openWithRetry(ctx context.Context, open func() error) error {
	for waited := false; ; waited = true {
		err := open()
		if !errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		if !waited {
			n.options.Log.Warn("dependency unavailable, waiting", "err", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryInterval):
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
	n.closeLater(env.Store)
	n.self.Store, err = env.Store.ID(ctx)
	return err
}

func (n *node) openIndex(ctx context.Context, env *role.Env) (err error) {
	if n.config.Search != "" {
		n.self.Index = "meilisearch"
		env.Index, err = meilisearch.Open(ctx, meilisearchOptions(n.config.Search, n.config.SearchKey, n.options.Log))
	} else {
		n.self.Index, err = n.ownIndex()
		if err == nil {
			env.Index, err = n.openBleve()
		}
	}
	if err != nil {
		return err
	}
	n.closeLater(env.Index)
	return nil
}

// meilisearchOptions returns the options of the server that --search names.
func meilisearchOptions(search config.Address, key config.Secret, log *slog.Logger) meilisearch.Options {
	return meilisearch.Options{URL: strings.Replace(string(search), "meilisearch", "http", 1), Key: string(key), Log: log}
}

// CheckStore checks the PostgreSQL that --store names without changes. Its error states the problem and the
// remedy.
func CheckStore(ctx context.Context, store config.Address) error {
	return postgres.Check(ctx, string(store))
}

// CheckSearch checks the Meilisearch that --search names without changes. Its error states the problem and
// the remedy.
func CheckSearch(ctx context.Context, search config.Address, key config.Secret) error {
	return meilisearch.Check(ctx, meilisearchOptions(search, key, nil))
}

// ownIndex returns the ID of the index of this data folder.
func (n *node) ownIndex() (string, error) {
	path, err := filepath.Abs(n.path("index"))
	if err != nil {
		return "", err
	}
	return n.self.Host + ":" + path, nil
}

// openBleve opens the index of this data folder. A damaged index is moved aside and rebuilt from the store,
// which contains all of its data.
func (n *node) openBleve() (storage.Index, error) {
	path := n.path("index")
	index, err := bleve.Open(path)
	if errors.Is(err, bleve.ErrBroken) {
		aside := fmt.Sprintf("%s.broken-%s", path, time.Now().UTC().Format("20060102T150405"))
		n.options.Log.Warn("index damaged, rebuild from the store", "moved_to", aside, "err", err)
		if err := os.Rename(path, aside); err != nil {
			return nil, fmt.Errorf("move the damaged index aside: %w", err)
		}
		index, err = bleve.Open(path)
	}
	if err != nil {
		return nil, err
	}
	return index, nil
}

// checkMesh returns an error if other agents use another store or index: items would be split between both,
// and no search would find all.
func (n *node) checkMesh(ctx context.Context) error {
	if n.self.Store == "" && n.self.Index == "" {
		return nil // the NATS user of a crawler may not read the heartbeats
	}
	agents, err := n.mesh.Agents(ctx)
	if err != nil {
		return err
	}
	for _, a := range agents {
		if n.self.Store != "" && a.Store != "" && a.Store != n.self.Store {
			return fmt.Errorf("the mesh uses the store of agent %s on %s: share it with --store if it is PostgreSQL, or run only roles without a store here, for example --roles crawl,prepare,classify",
				a.ID, a.Host)
		}
		if n.self.Index != "" && a.Index != "" && a.Index != n.self.Index {
			return fmt.Errorf("the mesh uses another index, of agent %s on %s (%s, here %s): configure one Meilisearch for all agents with --search, or run the roles index and api on that agent only",
				a.ID, a.Host, a.Index, n.self.Index)
		}
	}
	return nil
}

// needs reports whether a role of the node has the property.
func (n *node) needs(what func(role.Role) bool) bool { return slices.ContainsFunc(n.roles, what) }
