package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"feedmesh/config"
)

// smallDisk mounts a tmpfs of the given size, for example "40m".
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("skipped: mounting a tmpfs requires root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestRun_FullDisk(t *testing.T) {
	t.Parallel()
	c := settings(filepath.Join(smallDisk(t, "40m"), "data"))
	got := startError(t, c)
	if !strings.Contains(got, "the disk of the data folder "+c.Data+" is full: 40MB free, at least 64MB required") || !strings.Contains(got, "--data") {
		t.Errorf("got %q, want the full disk and the remedy", got)
	}
	if files, err := os.ReadDir(c.Data); err != nil || len(files) != 0 {
		t.Errorf("got files %v, %v, want none", files, err)
	}
}

func TestCheckDiskSpace_FullAndFreed(t *testing.T) {
	t.Parallel()
	n := &process{config: settings(smallDisk(t, "100m"))}
	ballast := n.path("ballast")
	for _, full := range []bool{false, true, false} {
		size := 0
		if full {
			size = 50 << 20
		}
		if err := os.WriteFile(ballast, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := n.checkDiskSpace(); (err != nil) != full {
			t.Errorf("got %v with the disk full: %t", err, full)
		}
	}
	n.config.Data = n.path("gone")
	if err := n.checkDiskSpace(); err == nil {
		t.Error("got no error for a missing folder")
	}
	n.config.NATS = []config.Address{"nats://h:4222"} // and no role that needs a folder
	if err := n.checkDiskSpace(); err != nil {
		t.Errorf("got %v for a node without data folder, want nil", err)
	}
}
