package meilisearch

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/indextest"
	"feedmesh/tests/engines"
)

// server is shared by the tests, each with its own index. It is nil if Meilisearch is not installed, and in short
// tests; absent contains the reason.
var (
	server *engines.Meilisearch
	absent error
)

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		absent = errors.New("skipped by -short")
		os.Exit(m.Run())
	}
	os.Exit(withServer(m.Run))
}

func withServer(run func() int) int {
	dir, err := os.MkdirTemp("", "meilisearch")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	server, err = engines.StartMeilisearch(dir)
	if errors.Is(err, os.ErrNotExist) {
		absent = fmt.Errorf("%w: run tests/engines/install", err)
		return run()
	}
	if err != nil {
		panic(err)
	}
	defer server.Kill()
	return run()
}

// indexCount is the number of indexes created by tests.
var indexCount atomic.Int64

// needServer skips the test without a server.
func needServer(t testing.TB) {
	t.Helper()
	if server == nil {
		t.Skipf("NOT TESTED on Meilisearch: %v", absent)
	}
}

// newOptions returns options of a new index, and skips the test without a server.
func newOptions(t testing.TB) Options {
	t.Helper()
	needServer(t)
	return Options{URL: server.URL(), Key: server.Key(), name: fmt.Sprint("items", indexCount.Add(1))}
}

func open(t testing.TB, options Options) *Index {
	t.Helper()
	x, err := Open(t.Context(), options)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func TestIndex(t *testing.T) {
	needServer(t)
	indextest.TestIndex(t, func(t *testing.T) storage.Index {
		x, err := Open(t.Context(), newOptions(t))
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		return x
	}, indextest.NoBoost)
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// words returns items with the given IDs and the word "word".
func words(ids ...string) []storage.IndexItem {
	var items []storage.IndexItem
	for _, id := range ids {
		items = append(items, storage.IndexItem{Item: storage.Item{
			ID: id, FeedID: "feed", Title: "word", Published: noon, FirstSeen: noon, Changed: noon,
		}})
	}
	return items
}
