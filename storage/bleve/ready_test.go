package bleve_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

func TestWhatWasMergedIsReadBeforeASearchAsks(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "index"))
	defer x.Close()
	const puts = 60
	for i := range puts {
		put(t, x, fmt.Sprint(i))
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		all, parts := x.SeesAll()
		if all && parts < puts/2 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s searches see %d parts, all there is: %t; want all, and many that are merged", parts, all)
		}
	}
}
