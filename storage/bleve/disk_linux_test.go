package bleve_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"feedmesh/storage"
	"feedmesh/storage/indextest"
)

func TestPut_FullDiskIsReportedAndRecovered(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("skipped: mounting a small disk needs root: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	x := open(t, filepath.Join(dir, "index"))
	defer x.Close()
	made := indextest.NewItemGenerator(1)
	if err := x.Put(t.Context(), made.Items(50)...); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	_ = os.WriteFile(ballast, make([]byte, 8<<20), 0o600) // as much as fits
	if err := x.Put(t.Context(), made.Items(50)...); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("the error is %v, want %v", err, storage.ErrUnavailable)
	}
	if n, err := x.Count(t.Context()); err != nil || n != 50 {
		t.Errorf("while the disk is full: got %d items, %v; want those put before", n, err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	last := made.Items(50)
	if err := x.Put(t.Context(), last...); err != nil {
		t.Errorf("with space again: %v", err)
	}
	stamps, err := x.Stamps(t.Context(), storage.Day(last[0].FirstSeen), "", 1000)
	if err != nil || !slices.ContainsFunc(stamps, func(s storage.Stamp) bool { return s.ID == last[0].ID }) {
		t.Errorf("the day of the last item: got %v, %v; want the item included", stamps, err)
	}
}

// A full disk is reported by a later batch. All batches are on disk when it has space again.
func TestBuffer_FullDiskIsReportedAndRecovered(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("skipped: mounting a small disk needs root: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	path := filepath.Join(dir, "index")
	x := openBuffered(t, path)
	defer func() { x.Close() }()
	ballast := filepath.Join(dir, "ballast")
	_ = os.WriteFile(ballast, make([]byte, 8<<20), 0o600) // as much as fits
	made, put := indextest.NewItemGenerator(1), 0
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := x.Put(t.Context(), made.Items(50)...)
		if errors.Is(err, storage.ErrUnavailable) {
			break
		}
		if put += 50; err != nil || time.Now().After(deadline) {
			t.Fatalf("got %v, want %v", err, storage.ErrUnavailable)
		}
	}
	if n, err := x.Count(t.Context()); err != nil || n < int64(put) {
		t.Errorf("while the disk is full: got %d items, %v; want at least %d", n, err, put)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := x.Put(t.Context(), made.Items(50)...)
		if put += 50; err == nil {
			break
		}
		if put -= 50; time.Now().After(deadline) {
			t.Fatalf("with space again: %v", err)
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = open(t, path)
	if n, err := x.Count(t.Context()); err != nil || n < int64(put) {
		t.Errorf("after it was opened again: got %d items, %v; want at least %d", n, err, put)
	}
}
