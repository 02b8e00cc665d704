// Package enginetest opens the engines of a single node for the tests of other packages: SQLite and Bleve, in a
// temporary folder of the test.
package enginetest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/sqlite"
)

// Store returns an empty store, which is closed at the end of the test. All stores of a process have the same ID.
func Store(t testing.TB) storage.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	content, err := emptyStore()
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, store)
	return store
}

// emptyStore returns the file of an empty store. To copy it takes a third of the time of the migrations.
var emptyStore = sync.OnceValues(func() (_ []byte, err error) {
	folder, err := os.MkdirTemp("", "enginetest")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "store.db")
	store, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Index returns an empty index, which is closed at the end of the test.
func Index(t testing.TB) storage.Index {
	t.Helper()
	index, err := bleve.Open(filepath.Join(t.TempDir(), "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, index)
	return index
}

func closeAtEnd(t testing.TB, engine io.Closer) {
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
}
