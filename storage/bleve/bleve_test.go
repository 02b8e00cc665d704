package bleve_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/indextest"
)

func TestIndex(t *testing.T) {
	indextest.TestIndex(t, func(t *testing.T) storage.Index {
		return open(t, filepath.Join(t.TempDir(), "index"))
	})
}

func open(t testing.TB, path string) *bleve.Index {
	t.Helper()
	x, err := bleve.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return x
}
