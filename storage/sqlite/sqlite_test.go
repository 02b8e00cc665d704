package sqlite_test

import (
	"path/filepath"
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
	"feedmesh/storage/storagetest"
)

func TestStore(t *testing.T) {
	storagetest.TestStore(t, func(t *testing.T) storage.Store { return open(t, filepath.Join(t.TempDir(), "store.db")) })
}

// open opens the store at path, which the test then owns.
func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
