package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"feedmesh/config"
)

// smallDisk mounts a disk of so many MB, given as "40m".
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("skipped: a small disk can't be mounted here, it takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestADiskWithoutRoomIsRefused(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(smallDisk(t, "40m"), "data"))
	got := refused(t, c)
	if !strings.Contains(got, "the disk of the data folder "+c.Data+" is full: 40MB free, at least 64MB are needed") || !strings.Contains(got, "--data") {
		t.Errorf("got %q, want that the disk is full and what to do", got)
	}
	if files, err := os.ReadDir(c.Data); err != nil || len(files) != 0 {
		t.Errorf("got %v, %v in the folder, want nothing", files, err)
	}
}

func TestRoomComesAndGoes(t *testing.T) {
	t.Parallel()
	n := &node{config: settings(smallDisk(t, "100m"))}
	ballast := n.path("ballast")
	for _, full := range []bool{false, true, false} {
		size := 0
		if full {
			size = 50 << 20
		}
		if err := os.WriteFile(ballast, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := n.room(); (err != nil) != full {
			t.Errorf("got %v with the disk full: %t", err, full)
		}
	}
	n.config.Data = n.path("gone")
	if err := n.room(); err == nil {
		t.Error("got nil for a folder that is gone, want that its disk can't be seen")
	}
	n.config.NATS = []config.Address{"nats://h:4222"} // and no role that needs a folder
	if err := n.room(); err != nil {
		t.Errorf("got %v for a node that keeps no files, want nil", err)
	}
}
