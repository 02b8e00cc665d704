package bleve_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"feedmesh/storage/bleve"
	"feedmesh/storage/indextest"
)

func TestReleasePages_LeavesTheIndexReadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	items := indextest.NewItemGenerator(1).Items(3000)
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	// Scorch writes, maps and merges segments in the background; a merge reads the pages again.
	for deadline := time.Now().Add(30 * time.Second); mappedPages(t, path) < 100 || !x.AtRest(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %d kB of the index mapped, want at least 100", mappedPages(t, path))
		}
		if _, err := x.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := mappedPages(t, path)
	if err := bleve.ReleasePages(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if after := mappedPages(t, path); after > before/2 {
		t.Errorf("got %d kB of the index mapped before and %d kB after, want less than half", before, after)
	}
	if n, err := x.Count(t.Context()); err != nil || n != 3000 {
		t.Errorf("got %d items, %v; want 3000", n, err)
	}
}

// mappedPages returns the pages of the segments' files in the memory of this process, in kB.
func mappedPages(t *testing.T, folder string) (size int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	inFolder := false
	for line := range strings.Lines(string(text)) {
		if parts := strings.Fields(line); len(parts) >= 5 && strings.Contains(parts[0], "-") { // a mapping; memory has no path
			inFolder = len(parts) >= 6 && strings.HasPrefix(parts[5], folder) && strings.HasSuffix(parts[5], ".zap")
		} else if value, is := strings.CutPrefix(line, "Rss:"); is && inFolder {
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			size += n
		}
	}
	return size
}
