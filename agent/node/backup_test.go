package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/client"
	"feedmesh/agent/simulate"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage/backup"
	"feedmesh/storage/storagetest"
	servers "feedmesh/tests/engines"
)

// backupTo makes a backup of a running node in a new file.
func (r *running) backupTo(path string) {
	r.t.Helper()
	d, err := client.Download(r.t.Context(), r.Client, wire.MakeBackup, wire.None{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer d.Body.Close()
	f, err := os.Create(path)
	if err == nil {
		_, err = io.Copy(f, d.Body)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// restoreTo restores a backup with the settings.
func restoreTo(ctx context.Context, c config.Config, file string) (backup.Info, error) {
	return Restore(ctx, c, RestoreOptions{Options: Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, File: file})
}

// rowsOf returns the rows of all tables of a backup as text, sorted.
func rowsOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	opened, err := backup.Open(t.Context(), file, file+".copy")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Remove()
	return storagetest.ContentsOf(t, opened.Tables)
}

// backupSummarized makes a backup of a node that has summarized all stories.
func (r *running) backupSummarized(file string) {
	r.t.Helper()
	eventually(r.t, "all stories are summarized", func() bool {
		r.backupTo(file)
		return len(rowsOf(r.t, file)["untold"]) == 0
	})
}

// userState are changes by users: a token, a mark of it, a view, a correction and a version of rules.
func (r *running) userState() {
	r.t.Helper()
	ctx := r.t.Context()
	check := func(err error) {
		r.t.Helper()
		if err != nil {
			r.t.Fatal(err)
		}
	}
	token, err := client.Call(ctx, r.Client, wire.AddToken, wire.AddTokenRequest{Body: wire.TokenSetting{Name: "phone", Scopes: []access.Scope{access.Write}}})
	check(err)
	_, err = client.Call(ctx, r.Client, wire.SaveView, wire.SaveViewRequest{Name: "anything", Body: wire.ViewSetting{Definition: "view anything = from all where anything"}})
	check(err)
	found, err := client.Call(ctx, r.Client, wire.SearchItems, wire.Search{Query: simulate.UniqueWord(0, 0)})
	check(err)
	spam := true
	_, err = client.Call(ctx, r.Client, wire.LabelItem, wire.LabelItemRequest{ID: found.Items[0].ID, Body: wire.Correction{Spam: &spam}})
	check(err)
	rules := append(r.builtInRules(), "\n\n"...) // another text
	_, err = client.Call(ctx, r.Client, wire.PutRules, wire.PutRulesRequest{Name: "prepare", Version: "0", RawBody: rules})
	check(err)

	reader := func(path string, form url.Values) []byte {
		r.t.Helper()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Address()+"/reader/api/0/"+path, strings.NewReader(form.Encode()))
		check(err)
		request.Header.Set("Authorization", "GoogleLogin auth="+token.Secret)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := http.DefaultClient.Do(request)
		check(err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if check(err); response.StatusCode != 200 {
			r.t.Fatalf("%s: got %s: %s", path, response.Status, body)
		}
		return body
	}
	var ids struct{ ItemRefs []struct{ ID string } }
	check(json.Unmarshal(reader("stream/items/ids", url.Values{"s": {"user/-/state/com.google/reading-list"}, "n": {"1"}, "output": {"json"}}), &ids))
	reader("edit-tag", url.Values{"i": {ids.ItemRefs[0].ID}, "a": {"user/-/state/com.google/starred"}})
}

// The restore drill. A backup made while items are stored is restored into an empty folder: nothing is missing. A
// backup of that node is restored into PostgreSQL, and one of that into SQLite: all tables are the same, and no
// unchanged document is fetched again.
func TestRestore_Drill(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: runs four nodes one after another")
	}
	t.Parallel()
	dir := t.TempDir()
	f := simulate.NewFeedServer(testFeeds, testEntries, time.Now().Add(-time.Hour))
	f.SetWindow(10_000)
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	node := func(name string) config.Config {
		c := settings(filepath.Join(dir, name))
		c.Schedule.Interval = 2 * time.Second
		return c
	}
	file := func(name string) string { return filepath.Join(dir, name+".db") }

	first := start(t, node("first"))
	first.add(web.URL)
	first.waitIdle(testItems)
	first.userState()
	ctx, stopPublishing := context.WithCancel(t.Context())
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for ctx.Err() == nil {
			f.PublishIn(rand.IntN(testFeeds))
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	eventually(t, "items of the load are stored", func() bool {
		s, err := client.Call(t.Context(), first.Client, wire.GetStatus, wire.None{})
		return err == nil && s.Items > testItems
	})
	first.backupTo(file("first"))
	stopPublishing()
	publishing.Wait()
	if _, err := restoreTo(t.Context(), node("first"), file("first")); err == nil {
		t.Error("a backup was restored into the folder of a running agent")
	}
	first.stop()
	if _, err := restoreTo(t.Context(), node("first"), file("first")); err == nil || !strings.Contains(err.Error(), "restore into an empty folder") {
		t.Errorf("restore into a folder with a store: got %v, want a refusal", err)
	}

	published := int64(len(slices.Collect(f.Entries())))
	previous := "first"
	for _, name := range []string{"second", "postgres", "last"} {
		c := node(name)
		if name == "postgres" {
			c.Store = postgresDatabase(t)
			if c.Store == "" {
				continue
			}
		}
		info, err := restoreTo(t.Context(), c, file(previous))
		if err != nil {
			t.Fatal(err)
		}
		if info.Rows["marks"] != 1 || info.Rows["views"] != 1 || info.Rows["corrections"] != 1 || info.Rows["rules"] != 1 || info.Rows["tokens"] == 0 {
			t.Errorf("%s: got rows %v, want what users changed", name, info.Rows)
		}
		restored := time.Now()
		r := start(t, c)
		r.waitIdle(published)
		polled := func() map[int]bool {
			feeds := map[int]bool{}
			for _, q := range f.Log() {
				if q.Start.After(restored) {
					feeds[q.Feed] = true
				}
			}
			return feeds
		}
		eventually(t, "all feeds are polled after the restore", func() bool { return len(polled()) == testFeeds })
		if previous != "first" { // nothing was published since
			for _, q := range f.Log() {
				if q.Start.After(restored) && (q.Full || !q.Conditional) {
					t.Errorf("%s: an unchanged document of feed %d was fetched again", name, q.Feed)
				}
			}
		}
		r.waitIdle(published)
		r.backupSummarized(file(name))
		r.stop()
		if previous != "first" {
			sameTables(t, previous, name, rowsOf(t, file(previous)), rowsOf(t, file(name)))
		}
		previous = name
	}
}

// changing are the tables that a node changes while nothing is published: fences advance with each start, notes of
// roles with time.
var changing = []string{"fences", "notes", "untold"}

// sameTables fails for each other table with other rows.
func sameTables(t *testing.T, before, after string, want, got map[string][]string) {
	t.Helper()
	for _, table := range slices.Sorted(maps.Keys(want)) {
		if slices.Contains(changing, table) || slices.Equal(got[table], want[table]) {
			continue
		}
		for i := range max(len(want[table]), len(got[table])) {
			if i >= len(want[table]) || i >= len(got[table]) || want[table][i] != got[table][i] {
				t.Errorf("table %s: %d rows in %s, %d in %s; the first difference is row %d:\n%s\n%s", table, len(want[table]), before, len(got[table]), after, i,
					rowAt(want[table], i), rowAt(got[table], i))
				break
			}
		}
	}
}

func rowAt(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "none"
}

// postgresDatabase returns the address of an empty database; "" if PostgreSQL is not installed.
func postgresDatabase(t *testing.T) config.Address {
	t.Helper()
	pg, err := servers.StartPostgres(t.TempDir(), "fsync=off")
	if errors.Is(err, os.ErrNotExist) {
		t.Logf("NOT TESTED on PostgreSQL: %v", err)
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pg.Kill)
	address, err := pg.Create("restored")
	if err != nil {
		t.Fatal(err)
	}
	return config.Address(address)
}

// A damaged backup is refused, and so is what is no backup. Nothing is left in the folder.
func TestRestore_DamagedBackup(t *testing.T) {
	t.Parallel()
	_, _, r := runningFixture(t)
	file := filepath.Join(t.TempDir(), "backup.db")
	r.backupTo(file)
	r.stop()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	for name, content := range map[string][]byte{"damaged": damaged, "cut": whole[:len(whole)/2], "empty": nil, "text": []byte("no backup")} {
		to := settings(filepath.Join(t.TempDir(), "data"))
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := restoreTo(t.Context(), to, path); err == nil {
			t.Errorf("%s: it was restored", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(to.Data, "store.db")); !os.IsNotExist(err) {
			t.Errorf("%s: stat of the store: got %v, want that there is none", name, err)
		}
	}
}
