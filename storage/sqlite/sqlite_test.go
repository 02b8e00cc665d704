package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
	"feedmesh/storage/storagetest"
)

// The stores are copies of one: to copy it takes a third of the time of the migrations.
func TestStore(t *testing.T) {
	path := storePath(t)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	empty, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	storagetest.TestStore(t, func(t *testing.T) storage.Store {
		path := storePath(t)
		if err := os.WriteFile(path, empty, 0o600); err != nil {
			t.Fatal(err)
		}
		return open(t, path)
	})
}

// storePath returns a path in a folder whose name contains special characters of URIs.
func storePath(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "a b?c#d%20")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "store.db")
}

// open opens the store at path. The caller closes it.
func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// addFeed adds a feed and returns its ID.
func addFeed(t testing.TB, s *sqlite.Store) string {
	t.Helper()
	feed := storage.Feed{ID: storage.FeedID("https://example.org/"), URL: "https://example.org/"}
	if _, err := s.AddFeeds(t.Context(), feed); err != nil {
		t.Fatal(err)
	}
	return feed.ID
}

// batch returns batch n of the feed.
func batch(feedID string, n int) storage.Batch {
	b := storage.Batch{FeedID: feedID}
	for i := range batchSize {
		b.Items = append(b.Items, benchItem(feedID, n*batchSize+i, 500))
	}
	return b
}

func closeStore(t testing.TB, s *sqlite.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func TestOpen_ReopenKeepsContents(t *testing.T) {
	path := storePath(t)
	s := open(t, path)
	feedID := addFeed(t, s)
	want := batch(feedID, 0)
	if _, err := s.PutItems(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	fence, err := s.NextFence(t.Context(), "cluster.en")
	if err != nil {
		t.Fatal(err)
	}
	id := storeID(t, s)
	closeStore(t, s)

	s = open(t, path)
	defer closeStore(t, s)
	other := open(t, storePath(t))
	defer closeStore(t, other)
	if got := storeID(t, s); got != id || got == storeID(t, other) {
		t.Errorf("the ID is %s, another store's %s; want %s, and no other with it", got, storeID(t, other), id)
	}
	feed, err := s.Feed(t.Context(), feedID)
	if err != nil || feed.Items != batchSize {
		t.Errorf("the feed has %d items, %v; want %d", feed.Items, err, batchSize)
	}
	for _, item := range want.Items {
		if got, err := storage.ItemByID(t.Context(), s, item.ID); err != nil || got.HTML != item.HTML {
			t.Errorf("item %s is %.50q, %v", item.ID, got.HTML, err)
		}
	}
	if next, err := s.NextFence(t.Context(), "cluster.en"); err != nil || next.Number != fence.Number+1 {
		t.Errorf("got fence %[2]d after %[1]d, %[3]v", fence.Number, next.Number, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the store is not at its path: %v", err)
	}
}

func storeID(t *testing.T, s *sqlite.Store) string {
	t.Helper()
	id, err := s.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A file of a version without the table of tags gets it, with the tags of its feeds.
func TestOpen_FillsTagsOfFeeds(t *testing.T) {
	path := storePath(t)
	s := open(t, path)
	if _, err := s.AddFeeds(t.Context(), storage.Feed{ID: "a", URL: "https://a.example/", Tags: []string{"x", "y"}}, storage.Feed{ID: "b", URL: "https://b.example/", Tags: []string{"y"}}, storage.Feed{ID: "c", URL: "https://c.example/"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `DROP TABLE feed_tags; DROP TRIGGER feed_tags_insert; DROP TRIGGER feed_tags_update; DROP TRIGGER feed_tags_delete`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	defer s.Close()
	got, err := s.FeedTags(t.Context(), 9)
	if want := []storage.TagCount{{Tag: "y", Feeds: 2}, {Tag: "x", Feeds: 1}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got the tags %v, %v, want %v", got, err, want)
	}
	feeds, err := s.FindFeeds(t.Context(), storage.FeedQuery{Tag: "x", Limit: 9})
	if err != nil || len(feeds) != 1 || feeds[0].ID != "a" {
		t.Errorf("got the feeds %v with the tag, %v, want a", feeds, err)
	}
}

func TestOpen_TwoStoresOfOneFileSerializeWrites(t *testing.T) {
	path := storePath(t)
	stores := make([]*sqlite.Store, 2)
	var opening sync.WaitGroup
	for i := range stores {
		opening.Go(func() {
			var err error
			if stores[i], err = sqlite.Open(t.Context(), path); err != nil {
				t.Errorf("open %d: %v", i, err)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		return
	}
	feedID := addFeed(t, stores[0])
	var writing sync.WaitGroup
	for i, s := range stores {
		defer closeStore(t, s)
		writing.Go(func() {
			for n := range 10 {
				if _, err := s.PutItems(t.Context(), batch(feedID, 2*n+i)); err != nil {
					t.Errorf("store %d, batch %d: %v", i, n, err)
				}
			}
		})
	}
	writing.Wait()
	for i, s := range stores {
		if c, err := s.CountFeeds(t.Context(), storage.FeedQuery{}); err != nil || c.Items != 20*batchSize {
			t.Errorf("store %d counts %d items, %v; want %d", i, c.Items, err, 20*batchSize)
		}
	}
}

func TestOpen_ErrorStatesRemedy(t *testing.T) {
	steps, err := filepath.Glob("schema/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, path string)
		want  string
	}{
		{"garbage", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 1000)), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "the file is not a feedmesh store: move it"},
		{"a newer store", func(t *testing.T, path string) {
			closeStore(t, open(t, path))
			run(t, path, `PRAGMA user_version = 999`)
		}, fmt.Sprintf("the store has schema version 999 and this program supports only %d: run the newer program", len(steps))},
		{"the database of another program", func(t *testing.T, path string) {
			run(t, path, `CREATE TABLE items (id)`)
		}, "the file is another program's database: move it"},
		{"a folder", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "unable to open database file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := storePath(t)
			test.spoil(t, path)
			before := contents(path)
			s, err := sqlite.Open(t.Context(), path)
			if err == nil {
				closeStore(t, s)
				t.Fatal("it was opened")
			}
			if !strings.HasPrefix(err.Error(), "open "+path+": ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %q, want the file's name and %q", err, test.want)
			}
			if after := contents(path); after != before {
				t.Error("the file has changed")
			}
		})
	}
}

// contents returns the bytes of the file, or nothing for a folder.
func contents(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// run runs a statement on the file at path, bypassing the store.
func run(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestWrite_WaitEndsWithContext(t *testing.T) {
	path := storePath(t)
	s := open(t, path)
	defer closeStore(t, s)
	feedID := addFeed(t, s)
	other, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		t.Fatal(err)
	}
	// One of the two waits for the file lock, the other for the first.
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	var waiting sync.WaitGroup
	for n := range 2 {
		waiting.Go(func() {
			if _, err := s.PutItems(ctx, batch(feedID, n)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the error is %v, want %v", err, context.DeadlineExceeded)
			}
		})
	}
	waiting.Wait()
	if elapsed := time.Since(start); elapsed > 10*time.Second { // for a busy machine
		t.Errorf("they noticed after %v", elapsed)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutItems(t.Context(), batch(feedID, 0)); err != nil {
		t.Errorf("put after that: %v", err)
	}
}
