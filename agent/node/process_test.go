package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

func TestRun_DataFolderInUse(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	lock := flock.New(filepath.Join(c.Data, "lock"))
	if ours, err := lock.TryLock(); err != nil || !ours {
		t.Fatal(ours, err)
	}
	if got := startError(t, c); !strings.Contains(got, c.Data+" is in use by another agent") || !strings.Contains(got, "--data") {
		t.Errorf("got %q, want the folder in use and the remedy", got)
	}
	if files, err := os.ReadDir(c.Data); err != nil || len(files) != 1 {
		t.Errorf("got files %v, %v, want only the lock", files, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	start(t, c).stop() // succeeds after Unlock
}

func TestRun_DataFolderNotWritable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(dir, "blocked") // its lock is a folder
	if err := os.MkdirAll(filepath.Join(blocked, "lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	readOnly := filepath.Join(dir, "read-only")
	if err := os.Mkdir(readOnly, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ data, want string }{
		{file, "create the data folder"},
		{filepath.Join(file, "sub"), "create the data folder"},
		{blocked, "write to the data folder"},
		{readOnly, "write to the data folder"},
		{filepath.Join(readOnly, "sub"), "create the data folder"},
	} {
		if strings.HasPrefix(test.data, readOnly) && os.Geteuid() == 0 {
			t.Logf("%s skipped: root may write anywhere", test.data)
			continue
		}
		if got := startError(t, settings(test.data)); !strings.Contains(got, test.want) || !strings.Contains(got, "--data") {
			t.Errorf("%s: got %q, want %q and the remedy", test.data, got, test.want)
		}
	}
}

func TestFreeBytes_ExistingAndMissingFolder(t *testing.T) {
	if free, err := FreeBytes(t.TempDir()); err != nil || free <= 0 {
		t.Errorf("got %d, %v for a writable folder, want more than 0", free, err)
	}
	if _, err := FreeBytes(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("got no error for a missing folder")
	}
}
