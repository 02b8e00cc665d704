package backup

import (
	"os"
	"path/filepath"
	"testing"
)

// Processes on one machine have different folders. The folder of a killed process is deleted, one in use is not.
func TestTemporaryFolder_DeletesThoseOfKilledProcesses(t *testing.T) {
	parent := t.TempDir()
	first, err := NewTemporaryFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(first.Path, "feedmesh-1.db.partial")
	if err := os.WriteFile(backup, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := NewTemporaryFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(backup); err != nil || first.Path == second.Path {
		t.Fatalf("got %v and folder %s beside %s, want files in use kept", err, second.Path, first.Path)
	}
	if err := first.lock.Unlock(); err != nil { // as the kernel does
		t.Fatal(err)
	}
	third, err := NewTemporaryFolder(parent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first.Path); !os.IsNotExist(err) {
		t.Errorf("got %v, want the folder of the killed process deleted", err)
	}
	for _, f := range []*TemporaryFolder{second, third} {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v, want no files", left, err)
	}
}
