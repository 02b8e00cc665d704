package bleve_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"feedmesh/storage/bleve"
)

func TestMerge_LoadsColumnsBeforeASearch(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	const puts = 60
	for i := range puts {
		put(t, x, fmt.Sprint(i))
	}
	awaitMerged(t, x, puts/2)
}

// awaitMerged waits until searches use the current state, with fewer segments than the given number.
func awaitMerged(t *testing.T, x *bleve.Index, fewer int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		all, parts := x.SeesAll()
		if all && parts < fewer {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 2 minutes searches see %d parts, all there is: %t; want all, and many that are merged", parts, all)
		}
	}
}
