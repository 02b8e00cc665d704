package meilisearch

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
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
	x := openUnclosed(t, options)
	t.Cleanup(func() { x.Close() })
	return x
}

// openUnclosed is open for tests that close the index.
func openUnclosed(t testing.TB, options Options) *Index {
	t.Helper()
	x, err := Open(t.Context(), options)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return x
}

func TestIndex(t *testing.T) {
	needServer(t)
	indextest.TestIndex(t, func(t *testing.T) storage.Index {
		return openUnclosed(t, newOptions(t))
	}, indextest.NoBoost)
}

// A spread puts items with the usual FirstSeen on one of two days, each in another part of the index.
type spread struct{ *Index }

// Put implements [storage.Index].
func (s spread) Put(ctx context.Context, items ...storage.IndexItem) error {
	for i, it := range items {
		if it.FirstSeen.Equal(noon) {
			items[i].FirstSeen = noon.AddDate(0, 0, int(crc32.ChecksumIEEE([]byte(it.ID))%2))
		}
	}
	return s.Index.Put(ctx, items...)
}

// TestIndex_Parts checks the contract with items in several parts.
func TestIndex_Parts(t *testing.T) {
	needServer(t)
	indextest.TestIndex(t, func(t *testing.T) storage.Index {
		x := openUnclosed(t, newOptions(t))
		if err := x.applySettings(t.Context(), partSince(x.name, noon.AddDate(0, 0, 1))); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(t.Name(), "Days") || strings.Contains(t.Name(), "Stamps") { // tests of the days themselves
			return x
		}
		return spread{x}
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
