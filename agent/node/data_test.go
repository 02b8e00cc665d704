package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

func TestAFolderInUseIsRefused(t *testing.T) {
	t.Parallel()
	c := settings(t.TempDir())
	lock := flock.New(filepath.Join(c.Data, "lock"))
	if ours, err := lock.TryLock(); err != nil || !ours {
		t.Fatal(ours, err)
	}
	if got := refused(t, c); !strings.Contains(got, c.Data+" is in use by another agent") || !strings.Contains(got, "--data") {
		t.Errorf("got %q, want that the folder is in use and what to do", got)
	}
	if files, err := os.ReadDir(c.Data); err != nil || len(files) != 1 {
		t.Errorf("got %v, %v in the folder, want the lock alone", files, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	start(t, c).stop() // now it can
}

func TestAFolderThatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := filepath.Join(dir, "taken") // the lock can't be written there, by nobody
	if err := os.MkdirAll(filepath.Join(taken, "lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	readOnly := filepath.Join(dir, "read-only")
	if err := os.Mkdir(readOnly, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ data, want string }{
		{file, "can't make the data folder"},
		{filepath.Join(file, "sub"), "can't make the data folder"},
		{taken, "can't write to the data folder"},
		{readOnly, "can't write to the data folder"},
		{filepath.Join(readOnly, "sub"), "can't make the data folder"},
	} {
		if strings.HasPrefix(test.data, readOnly) && os.Geteuid() == 0 {
			t.Logf("%s is not tried: root may write anywhere", test.data)
			continue
		}
		if got := refused(t, settings(test.data)); !strings.Contains(got, test.want) || !strings.Contains(got, "--data") {
			t.Errorf("%s: got %q, want that it %s and what to do", test.data, got, test.want)
		}
	}
}

func TestFreeBytes(t *testing.T) {
	if free, err := FreeBytes(t.TempDir()); err != nil || free <= 0 {
		t.Errorf("got %d, %v for a folder we write to, want more than 0", free, err)
	}
	if _, err := FreeBytes(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("got no error for a folder that is not there")
	}
}
