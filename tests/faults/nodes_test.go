//go:build linux

package faults

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/opml"
	"feedmesh/agent/role/store/keep"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/backup"
	"feedmesh/storage/bleve"
	"feedmesh/storage/sqlite"
	"feedmesh/tests/engines"
)

// nodeTimeout is the time within which a single node reaches a state.
const nodeTimeout = 40 * time.Second

// newNode returns a node with its own engines, beside the mesh, that is not started yet. Its name must be a new one: in
// a soak a fault is injected several times.
func (m *mesh) newNode(name, roles string, flags ...string) *agent {
	return m.newProcess(name, []string{"api"}, nil, append([]string{"--roles", roles}, flags...)...)
}

const (
	purgeFeeds, purgeEntries = 12, 25 // of which a third keep all items
	purgeAge                 = 60 * 24 * time.Hour
)

// killPurge kills a node between the transaction and the index task of a batch of its purge, twice. The next start
// must go on: the store and the index have the kept and the new items and no other, and the stories agree.
func killPurge(m *mesh, r *run) {
	feeds := simulate.NewFeedServer(purgeFeeds, purgeEntries, time.Now().Add(-time.Hour))
	feeds.SetWindow(2 * purgeEntries) // documents still list what is purged
	web := httptest.NewServer(feeds)
	defer web.Close()
	var list []opml.Feed
	want := map[string]int{}
	for i := range purgeFeeds {
		f := opml.Feed{URL: web.URL + feeds.Path(i), Tags: []string{"purged"}}
		for seq := range purgeEntries {
			if i%3 == 0 {
				f.Tags = []string{"kept"}
				want[simulate.Link(i, seq)] = 1
			}
		}
		want[simulate.Link(i, purgeEntries)] = 1
		list = append(list, f)
	}
	n := m.newNode("purge-"+rand.Text(), "all", "--keep", "all", "--keep-tag", "purged=30d;kept=all")
	defer n.Kill()
	if err := n.purge(m, r, list, feeds.Publish, want); err != nil {
		r.miss("%v: %s", err, lastLines(n.Log(), 3))
	}
}

func (n *agent) purge(m *mesh, r *run, list []opml.Feed, publish func(), want map[string]int) error {
	var outlines bytes.Buffer
	if err := opml.Write(&outlines, "feeds", list); err != nil {
		return err
	}
	if err := n.startReady(m.ctx); err != nil {
		return err
	}
	if _, err := n.api.ImportFeeds(m.ctx, &outlines); err != nil {
		return err
	}
	store, err := sqlite.Open(m.ctx, filepath.Join(m.dir, n.Name, "store.db"))
	if err != nil {
		return err
	}
	defer store.Close()
	err = eventually(nodeTimeout, func() error {
		status, err := client.Call(m.ctx, n.api, wire.GetStatus, wire.None{})
		state, failed := keep.ReadState(m.ctx, store)
		if err = errors.Join(err, failed); err == nil && (state.Settings == "" || status.Items != purgeFeeds*purgeEntries || status.Indexed != status.Items) {
			err = fmt.Errorf("%d items and %d indexed of %d", status.Items, status.Indexed, purgeFeeds*purgeEntries)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := n.Stop(syscall.SIGTERM, nodeTimeout); err != nil {
		return err
	}

	publish()
	m.shift(r, n, purgeAge)
	usual := n.Env
	for _, batch := range []string{"1", "3"} {
		n.Env = append(slices.Clone(usual), "FEEDMESH_CRASH_AT=purged items:"+batch)
		if err := n.Start(); err != nil {
			return err
		}
		if !n.Wait(nodeTimeout) || n.ExitCode() != -1 {
			return fmt.Errorf("it does not purge batch %s", batch)
		}
	}
	state, err := keep.ReadState(m.ctx, store)
	if err != nil {
		return err
	}
	if !state.Ended.IsZero() || state.Plan.Items == 0 {
		return fmt.Errorf("after the kills the purge is %+v, want one that has not ended", state)
	}
	n.Env = usual
	if err := n.startReady(m.ctx); err != nil {
		return err
	}
	return n.awaitAgreement(m, store, want)
}

// killRestore kills restores of a backup of the mesh while they write the schedule, before they write the store, and
// while they write the store. A node must not start with what they left, and a repetition must restore all.
func killRestore(m *mesh, r *run) {
	file := filepath.Join(m.dir, "backup.db")
	// Under load a backup of the items of an hour takes longer than other requests.
	err := m.requestWithin(nodeTimeout, func(ctx context.Context, c *client.Client) error { return download(ctx, c, file) })
	if err != nil {
		r.miss("make a backup: %v", err)
		return
	}
	again := rand.Text()
	url, err := m.pg.Create("restored-" + again)
	if err != nil {
		r.miss("%v", err)
		return
	}
	if err := m.restoreKilled(r, "restored-sqlite-"+again, file, []string{"restored value:100", "restored schedule:1"}); err != nil {
		r.miss("restore into SQLite: %v", err)
	}
	if err := m.restoreKilled(r, "restored-postgres-"+again, file, []string{"restored schedule:1", "restored table:8"}, "--store", url); err != nil {
		r.miss("restore into PostgreSQL: %v", err)
	}
}

// download stores a backup in a file.
func download(ctx context.Context, c *client.Client, path string) error {
	d, err := client.Download(ctx, c, wire.MakeBackup, wire.None{})
	if err != nil {
		return err
	}
	defer d.Body.Close()
	content, err := io.ReadAll(d.Body)
	return errors.Join(err, os.WriteFile(path, content, 0o600))
}

func (m *mesh) restoreKilled(r *run, name, file string, points []string, flags ...string) error {
	restore := &engines.Process{Name: "restore", Path: m.program, Args: append([]string{"restore", "--data", filepath.Join(m.dir, name), file}, flags...)}
	n := m.newNode(name, "all", flags...)
	defer n.Kill()
	for _, point := range points {
		r.hits.Add(1)
		restore.Env = []string{"FEEDMESH_CRASH_AT=" + point}
		if err := restore.Start(); err != nil {
			return err
		}
		if !restore.Wait(nodeTimeout) || restore.ExitCode() != -1 {
			return fmt.Errorf("it does not reach %s: %s", point, lastLines(restore.Log(), 2))
		}
		if err := n.Start(); err != nil {
			return err
		}
		if !n.Wait(nodeTimeout) || n.ExitCode() == 0 || !strings.Contains(lastLines(n.Log(), 1), "repeat agent restore") {
			return fmt.Errorf("killed at %s: a node that starts does not end with what to do: %s", point, lastLines(n.Log(), 2))
		}
	}
	restore.Env = nil
	if err := restore.Start(); err != nil {
		return err
	}
	if !restore.Wait(nodeTimeout) || restore.ExitCode() != 0 {
		return fmt.Errorf("repeat it: %s", lastLines(restore.Log(), 2))
	}
	again := file + "." + name
	n = m.newNode(name, "index,api", flags...) // which request no feeds
	defer n.Kill()
	err := n.startReady(m.ctx)
	if err == nil {
		err = download(m.ctx, n.api, again)
	}
	if err != nil {
		return err
	}
	before, err := backup.Verify(m.ctx, file)
	after, failed := backup.Verify(m.ctx, again)
	delete(before.Rows, "fences") // of the leases of the node
	delete(after.Rows, "fences")
	if err = errors.Join(err, failed); err == nil && (before.Values != after.Values || !maps.Equal(before.Rows, after.Rows)) {
		err = fmt.Errorf("%d values and rows %v, want %d and %v", after.Values, after.Rows, before.Values, before.Rows)
	}
	return err
}

// startReady starts the agent and waits until it is ready.
func (a *agent) startReady(ctx context.Context) error {
	if err := a.Start(); err != nil {
		return err
	}
	return eventually(nodeTimeout, func() error {
		ready, err := a.api.Ready(ctx)
		if err == nil && !ready.Ready {
			err = fmt.Errorf("%s is not ready: %v", a.Name, ready.Checks)
		}
		if err != nil && !a.Running() {
			err = fmt.Errorf("%s ended: %s", a.Name, lastLines(a.Log(), 2))
		}
		return err
	})
}

// awaitAgreement waits until the node's store has the wanted items, by link, each so many times, and the stories
// agree with them. Then it ends the node and compares its index with the store.
func (n *agent) awaitAgreement(m *mesh, store *sqlite.Store, want map[string]int) error {
	var ids []string
	err := eventually(nodeTimeout, func() error {
		items, err := allItems(m.ctx, store)
		if err != nil {
			return err
		}
		ids = nil
		links, stories := map[string]int{}, map[string]int{}
		for _, i := range items {
			ids = append(ids, i.ID)
			links[i.URL]++
			if !i.Spam {
				stories[i.StoryID]++
			}
		}
		if !maps.Equal(links, want) {
			return fmt.Errorf("it has %d items, want %d: lost %v, purged or twice %v", len(items), len(want), surplus(want, links), surplus(links, want))
		}
		if err := storiesOf(m.ctx, store, stories); err != nil {
			return err
		}
		status, err := client.Call(m.ctx, n.api, wire.GetStatus, wire.None{})
		if err == nil && status.Indexed != int64(len(want)) {
			err = fmt.Errorf("%d items are indexed, want %d", status.Indexed, len(want))
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := n.Stop(syscall.SIGTERM, nodeTimeout); err != nil {
		return err
	}
	index, err := bleve.Open(filepath.Join(m.dir, n.Name, "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer index.Close()
	indexed, err := allIDs(m.ctx, index)
	slices.Sort(ids)
	slices.Sort(indexed)
	if err == nil && !slices.Equal(ids, indexed) {
		err = fmt.Errorf("the index has %d items that differ from the %d of the store", len(indexed), len(ids))
	}
	return err
}

// surplus returns keys of which a has more than b, at most five.
func surplus(a, b map[string]int) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if a[key] > b[key] && len(keys) < 5 {
			keys = append(keys, key)
		}
	}
	return keys
}

// storiesOf returns an error unless the store has a summary of each story of several items, with their number, and
// of no other.
func storiesOf(ctx context.Context, store storage.Stories, items map[string]int) error {
	for q := (storage.StoryQuery{Newest: true, Limit: 100}); ; {
		page, next, err := store.ListStories(ctx, q)
		if err != nil {
			return err
		}
		for _, s := range page {
			if s.Items != items[s.ID] {
				return fmt.Errorf("the summary of story %s is of %d items, it has %d", s.ID, s.Items, items[s.ID])
			}
			delete(items, s.ID)
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	for id, n := range items {
		if n > 1 {
			return fmt.Errorf("story %s of %d items has no summary", id, n)
		}
	}
	return nil
}

// allIDs returns the IDs of all items of a store or an index.
func allIDs(ctx context.Context, from storage.StampReader) (ids []string, err error) {
	days, err := from.Days(ctx)
	if err != nil {
		return nil, err
	}
	for day := range days {
		for after := ""; ; {
			page, err := from.Stamps(ctx, day, after, 1000)
			if err != nil {
				return nil, err
			}
			if len(page) == 0 {
				break
			}
			for _, s := range page {
				ids = append(ids, s.ID)
			}
			after = page[len(page)-1].ID
		}
	}
	return ids, nil
}

// allItems returns all items of a store.
func allItems(ctx context.Context, store storage.Store) (all []storage.Item, err error) {
	ids, err := allIDs(ctx, store)
	if err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(ids, 500) {
		items, err := store.Items(ctx, chunk...)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
	}
	return all, nil
}
