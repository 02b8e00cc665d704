package bleve_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/indextest"
)

func openBuffered(t testing.TB, path string) *bleve.Index {
	t.Helper()
	x, err := bleve.OpenBuffered(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return x
}

func TestBufferedIndex(t *testing.T) {
	indextest.TestIndex(t, func(t *testing.T) storage.Index {
		x := openBuffered(t, t.TempDir())
		t.Cleanup(func() { x.Close() })
		return x
	})
}

// The format of a new index is on disk when it is open.
func TestBuffer_NewIndexSurvivesACrash(t *testing.T) {
	t.Parallel()
	path, crashed := filepath.Join(t.TempDir(), "index"), filepath.Join(t.TempDir(), "crashed")
	x := openBuffered(t, path)
	defer x.Close()
	if err := os.CopyFS(crashed, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	open(t, crashed).Close()
}

// Batches can be searched at once, take few files together, and are on disk after Close.
func TestBuffer_CollectsBatches(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	x := openBuffered(t, path)
	items := indextest.NewItemGenerator(1).Items(200)
	began := time.Now()
	for i := range items {
		if err := x.Put(t.Context(), items[i]); err != nil {
			t.Fatal(err)
		}
		if n, err := x.Count(t.Context()); err != nil || n != int64(i+1) {
			t.Fatalf("got %d items, %v; want %d", n, err, i+1)
		}
	}
	if n := len(segments(path)); n > 1+int(time.Since(began)/(2*time.Second)) {
		t.Errorf("got %d files after %v, want one for each five seconds", n, time.Since(began))
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open(t, path)
	defer x.Close()
	if n, err := x.Count(t.Context()); err != nil || n != 200 {
		t.Errorf("after it was opened again: got %d items, %v; want 200", n, err)
	}
}

// After a crash the index is intact, and lacks the last 5000 documents and a batch at most.
func TestBuffer_IsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	x := openBuffered(t, path)
	defer x.Close()
	const batch, batches = 1000, 9
	generator := indextest.NewItemGenerator(1)
	for range batches {
		if err := x.Put(t.Context(), generator.Items(batch)...); err != nil {
			t.Fatal(err)
		}
	}
	// A copy of changing files may be inconsistent in itself, unlike a disk after a crash.
	for deadline := time.Now().Add(30 * time.Second); ; {
		crashed := filepath.Join(t.TempDir(), "index")
		err := os.CopyFS(crashed, os.DirFS(path))
		if err == nil {
			var after *bleve.Index
			if after, err = bleve.Open(crashed, slog.New(slog.DiscardHandler)); err == nil {
				defer after.Close()
				if n, err := after.Count(t.Context()); err != nil || n < batch*batches-5000-2*batch {
					t.Errorf("got %d items, %v; want at least %d", n, err, batch*batches-5000-2*batch)
				}
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal(errors.Join(errors.New("no consistent copy within 30 s"), err))
		}
	}
}

// Old files are removed under constant load too.
func TestBuffer_RemovesOldFilesUnderLoad(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped by -short: it takes two minutes")
	}
	path := filepath.Join(t.TempDir(), "index")
	x := openBuffered(t, path)
	defer x.Close()
	items := indextest.NewItemGenerator(1).Items(400)
	most := 0
	for began := time.Now(); time.Since(began) < 130*time.Second; { // the same items again and again
		for i := range items {
			items[i].Title = items[i].Title + "."
			if len(items[i].Title) > 200 {
				items[i].Title = items[i].Title[:20]
			}
		}
		if err := x.Put(t.Context(), items...); err != nil {
			t.Fatal(err)
		}
		most = max(most, len(segments(path)))
	}
	if n := len(segments(path)); n > 40 {
		t.Errorf("got %d files of 400 items after constant load, %d at most, want those of the last minute", n, most)
	}
}
