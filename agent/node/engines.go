package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role"
	"feedmesh/config"
	"feedmesh/embedded/meilisearchd"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/meilisearch"
	"feedmesh/storage/postgres"
	"feedmesh/storage/sqlite"
	"feedmesh/subjects"
)

// engines opens the engines of a process.
type engines struct {
	*process
	env     *role.Env
	startup *startup
}

// open opens the store and the index that the roles need.
func (e engines) open(ctx context.Context) error {
	if e.needs(func(r role.Role) bool { return r.Store }) {
		if err := e.openOutside(ctx, outside("store", "PostgreSQL", e.config.Store), e.openStore); err != nil {
			return err
		}
	}
	if e.needs(func(r role.Role) bool { return r.Index }) {
		if err := e.openSearch(ctx); err != nil {
			return err
		}
	}
	if err := e.checkMesh(ctx); err != nil {
		return err
	}
	if e.env.Store == nil {
		return nil
	}
	if err := e.checkEmptyStore(ctx); err != nil {
		return err
	}
	return importStarter(ctx, e.process, e.env)
}

// checkEmptyStore returns an error if the store is empty and the index or the schedule is not: the store's file was
// lost, a restore was interrupted, or --store names another database. The index and the schedule would otherwise be
// emptied to agree with it.
func (e engines) checkEmptyStore(ctx context.Context) error {
	counts, err := e.env.Store.CountFeeds(ctx, storage.FeedQuery{})
	if err == nil {
		err = checkRestore(e.process, counts.Feeds == 0)
	}
	if err != nil || counts.Feeds > 0 || e.config.AcceptEmptyStore {
		return err
	}
	var indexed int64
	if e.env.Index != nil {
		if indexed, err = e.env.Index.Count(ctx); err != nil {
			return err
		}
	}
	feeds := 0
	if e.needs(func(r role.Role) bool { return slices.Contains(r.Serves, subjects.ObserveQueue.Name) }) {
		if err := e.env.Mesh.LoadStates(ctx, func(subjects.FeedState) { feeds++ }); err != nil {
			return err
		}
	}
	if indexed == 0 && feeds == 0 {
		return nil
	}
	return fmt.Errorf("the store is empty, but the index has %d items and the schedule has %d feeds: restore the store with agent restore, check --store and --data, or start once with --accept-empty-store to forget them", indexed, feeds)
}

// openOutside opens an engine, and waits for it if it is outside of this process.
func (e engines) openOutside(ctx context.Context, d dependency, open func(context.Context) error) error {
	if d.hosts == "" {
		return open(ctx)
	}
	return e.startup.await(ctx, e.options.Log, d, func() error { return open(ctx) })
}

func (e engines) openStore(ctx context.Context) (err error) {
	if url := string(e.config.Store); url != "" {
		e.env.Store, err = postgres.Open(ctx, url)
	} else {
		e.env.Store, err = sqlite.Open(ctx, e.path("store.db"))
	}
	if err != nil {
		return err
	}
	e.closeLater(e.env.Store)
	e.self.Store, err = e.env.Store.ID(ctx)
	return err
}

// searchAttempt bounds the attempt to reach the search engine before the node starts without it.
const searchAttempt = 10 * time.Second

// openSearch opens the index. If its server is away, the node starts without it: feeds are polled, and items wait on the
// queue of role index. Only with an empty store it waits, because it is unknown whether the index is empty too.
func (e engines) openSearch(ctx context.Context) (err error) {
	if text := string(e.config.SearchEmbedder); text != "" {
		if e.embedder, err = meilisearch.ParseEmbedder(text); err != nil {
			return fmt.Errorf("search-embedder: %w", err)
		}
	}
	if e.config.Search == config.OwnMeilisearch {
		if err := e.startMeilisearch(ctx); err != nil {
			return err
		}
	}
	d := outside("index", "Meilisearch", config.Address(e.meilisearch().URL))
	if d.hosts == "" {
		return e.openIndex(ctx)
	}
	counts, err := e.env.Store.CountFeeds(ctx, storage.FeedQuery{})
	if err != nil {
		return err
	}
	if counts.Feeds == 0 {
		return e.startup.await(ctx, e.options.Log, d, func() error { return e.openIndex(ctx) })
	}
	e.startup.begin(d)
	defer e.startup.end()
	attempt, cancel := context.WithTimeout(ctx, searchAttempt)
	defer cancel()
	err = e.openIndex(attempt)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case attempt.Err() != nil:
		err = fmt.Errorf("open the search index: %w: %s does not answer: check that it runs, and its address", storage.ErrUnavailable, d)
	case !errors.Is(err, storage.ErrUnavailable):
		return err
	}
	e.options.Log.Warn("dependency unavailable, items wait to be indexed", "name", d.String(), "err", err)
	late := meilisearch.NewLate(e.meilisearch(), err)
	e.env.Index = late
	e.closeLater(late)
	return nil
}

func (e engines) openIndex(ctx context.Context) (err error) {
	switch e.config.Search {
	case "":
		if e.self.Index, err = e.ownIndex("index"); err == nil {
			e.env.Index, err = e.openBleve()
		}
	case config.OwnMeilisearch:
		if e.self.Index, err = e.ownIndex(meilisearchFolder); err == nil {
			e.env.Index, err = meilisearch.Open(ctx, e.meilisearch())
		}
	default:
		e.self.Index = "meilisearch"
		e.env.Index, err = meilisearch.Open(ctx, e.meilisearch())
	}
	if err != nil {
		return err
	}
	e.closeLater(e.env.Index)
	return nil
}

// meilisearchFolder is the folder of the own Meilisearch in the data folder.
const meilisearchFolder = "meilisearch"

// startMeilisearch starts the Meilisearch of this process.
func (e engines) startMeilisearch(ctx context.Context) (err error) {
	e.search, err = meilisearchd.Start(ctx, meilisearchd.Options{Dir: e.path(meilisearchFolder), Log: e.options.Log})
	if err != nil {
		return err
	}
	e.closeLater(e.search)
	e.options.Log.Info("Meilisearch started", "url", e.search.URL())
	return nil
}

// meilisearch returns the options of the server that this process runs or --search names.
func (e engines) meilisearch() meilisearch.Options {
	if e.search != nil {
		return meilisearch.Options{URL: e.search.URL(), Key: e.search.Key(), Log: e.options.Log, Embedder: e.embedder}
	}
	options := meilisearchOptions(e.config.Search, e.config.SearchKey, e.options.Log)
	options.Embedder = e.embedder
	return options
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

// CheckSearch checks the Meilisearch that --search names without changes, or whether it is installed for an agent that
// starts it. Its error states the problem and
// the remedy.
func CheckSearch(ctx context.Context, search config.Address, key config.Secret) error {
	if search == config.OwnMeilisearch {
		return meilisearchd.Check(ctx)
	}
	return meilisearch.Check(ctx, meilisearchOptions(search, key, nil))
}

// ownIndex returns the ID of the index in a folder of this data folder.
func (e engines) ownIndex(name string) (string, error) {
	path, err := filepath.Abs(e.path(name))
	if err != nil {
		return "", err
	}
	return e.self.Host + ":" + path, nil
}

// openBleve opens the index of this data folder. A damaged index is moved aside and rebuilt from the store,
// which contains all of its data.
func (e engines) openBleve() (storage.Index, error) {
	path := e.path("index")
	open := bleve.Open
	if e.env.Mesh.IsAlone() {
		open = bleve.OpenBuffered // the index is compared with the store after a start
	}
	index, err := open(path, e.options.Log)
	if errors.Is(err, bleve.ErrBroken) {
		aside, failed := bleve.SetAside(path)
		if failed != nil {
			return nil, failed
		}
		e.options.Log.Warn("index damaged, rebuild from the store", "moved_to", aside, "err", err)
		index, err = open(path, e.options.Log)
	}
	if err != nil {
		return nil, err
	}
	return index, nil
}

// checkMesh returns an error if other agents use another store or index: items would be split between both,
// and no search would find all.
func (e engines) checkMesh(ctx context.Context) error {
	if e.self.Store == "" && e.self.Index == "" {
		return nil // the NATS user of a crawler may not read the heartbeats
	}
	var agents []subjects.Agent
	err := e.startup.await(ctx, e.options.Log, theMesh, func() (err error) {
		if agents, err = e.env.Mesh.Agents(ctx); mesh.IsUnavailable(err) {
			err = fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range agents {
		if e.self.Store != "" && a.Store != "" && a.Store != e.self.Store {
			return fmt.Errorf("the mesh uses the store of agent %s on %s: share it with --store if it is PostgreSQL, or run only roles without a store here, for example --roles crawl,prepare,classify",
				a.ID, a.Host)
		}
		if e.self.Index != "" && a.Index != "" && a.Index != e.self.Index {
			return fmt.Errorf("the mesh uses another index, of agent %s on %s (%s, here %s): configure one Meilisearch for all agents with --search, or run the roles index and api on that agent only",
				a.ID, a.Host, a.Index, e.self.Index)
		}
	}
	return nil
}
