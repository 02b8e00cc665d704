package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/work/worktest"
	"feedmesh/classify/near"
	"feedmesh/storage"
)

// An unreadableFile is a file of a disk that fails from some time on.
type unreadableFile struct {
	near.File
	fails *bool
}

var errDisk = errors.New("input/output error")

func (f unreadableFile) ReadAt(b []byte, at int64) (int, error) {
	if *f.fails {
		return 0, errDisk
	}
	return f.File.ReadAt(b, at)
}

// A window with more events than fit into memory is reported while it is shorter than set.
func TestWindowLimit(t *testing.T) {
	n := newPipelineFixture(t)
	n.cluster.memory = 4*EventBytes - 1 // for three events, and fewer with items
	n.publish("a.example", "Volcano erupts in Iceland", "Parliament votes on pensions")
	n.advance(time.Hour)
	if got := n.cluster.windowLimit(); got != "" {
		t.Errorf("got %q below the limit", got)
	}
	n.publish("b.example", "Rocket reaches orbit", "Bank raises interest rates", "Painter wins a prize")
	n.advance(time.Hour)
	if got := n.cluster.windowLimit(); !strings.HasPrefix(got, "items of language en are compared for stories within 2 h 01 min instead of 72 h 00 min, since more than 3 events") {
		t.Errorf("got %q", got)
	}
	n.advance(80 * time.Hour)
	if got := n.cluster.windowLimit(); got != "" {
		t.Errorf("got %q after the window", got)
	}
}

// filledWindow returns an index with so many items that the older ones are in files.
func filledWindow(t *testing.T, c *clusterer, newFile func() (near.File, error)) *near.Index {
	t.Helper()
	x := near.NewIndex(c.settings)
	x.Spill(newFile)
	for i := range 20_000 {
		x.Place(near.Signature{ItemID: fmt.Sprint("old ", i), Seen: worktest.Noon})
	}
	if blocks, err := x.Spilled(); blocks == 0 || err != nil {
		t.Fatalf("got %d blocks in files, %v; want some", blocks, err)
	}
	return x
}

func TestReceive_StopsIfTheWindowCannotBeRead(t *testing.T) {
	n := newPipelineFixture(t)
	create := newWindowFile(filepath.Join(t.TempDir(), "window"))
	fails := false
	n.cluster.near = filledWindow(t, n.cluster, func() (near.File, error) {
		file, err := create()
		return unreadableFile{file, &fails}, err
	})
	defer n.cluster.near.Close()
	fails = true
	stopped := false
	n.cluster.stop = func() { stopped = true }
	task := worktest.ClusterTask("feed", 1, storage.Item{ID: "old 7", Title: "A title of some words", Partition: "en"})
	if err := n.cluster.Receive(t.Context(), task); !errors.Is(err, errDisk) || !stopped {
		t.Errorf("got %v, stopped %v; want the error of the disk and a stop", err, stopped)
	}
}

func TestWindowFile_LeavesNothing(t *testing.T) {
	n := newPipelineFixture(t)
	folder := filepath.Join(t.TempDir(), "window")
	x := filledWindow(t, n.cluster, newWindowFile(folder))
	if got := x.Place(near.Signature{ItemID: "old 7", Seen: worktest.Noon}); got != (near.Match{}) || x.Len() != 20_000 || x.Err() != nil {
		t.Errorf("got %+v, %d items, %v; want the item found", got, x.Len(), x.Err())
	}
	x.Close()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v; want an empty folder", left, err)
	}
}
