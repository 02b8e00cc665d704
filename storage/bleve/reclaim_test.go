package bleve_test

import (
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"feedmesh/storage/bleve"
	"feedmesh/storage/indextest"
)

// bytesIn returns the size of all files in a folder.
func bytesIn(t *testing.T, folder string) (size int64) {
	t.Helper()
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed meanwhile
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			size += info.Size()
		}
		return nil
	})
	return size
}

func TestDelete_GivesDiskSpaceBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	x, err := bleve.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	items := indextest.NewItemGenerator(1).Items(3000)
	for from := 0; from < len(items); from += 1500 { // two segments
		if err := x.Put(t.Context(), items[from:from+1500]...); err != nil {
			t.Fatal(err)
		}
	}
	full := bytesIn(t, path)
	var ids []string
	for i, item := range items {
		if i%4 != 0 {
			ids = append(ids, item.ID)
		}
	}
	if err := x.Delete(t.Context(), ids...); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); bytesIn(t, path) > full/2; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the index takes %d bytes after three quarters of its items were deleted, %d before", bytesIn(t, path), full)
		}
	}
	if n, err := x.Count(t.Context()); err != nil || n != 750 {
		t.Errorf("the index has %d items, %v; want 750", n, err)
	}
}
