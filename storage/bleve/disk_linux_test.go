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
	"feedmesh/storage/bleve"
	"feedmesh/storage/indextest"
)

// smallDisk returns the folder of a disk of 8 MB.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("skipped: mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func TestPut_FullDiskIsReportedAndRecovered(t *testing.T) {
	dir := smallDisk(t)
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

// smallIndex opens a buffered index on a disk of 8 MB which is full, puts items until the disk's error is reported, and returns
// the number of those put and the file that fills the disk.
func smallIndex(t *testing.T) (x *bleve.Index, path, ballast string, put int) {
	t.Helper()
	dir := smallDisk(t)
	path, ballast = filepath.Join(dir, "index"), filepath.Join(dir, "ballast")
	x = openBuffered(t, path)
	t.Cleanup(func() { x.Close() })
	_ = os.WriteFile(ballast, make([]byte, 8<<20), 0o600) // as much as fits
	made := indextest.NewItemGenerator(1)
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := x.Put(t.Context(), made.Items(50)...)
		if errors.Is(err, storage.ErrUnavailable) {
			return x, path, ballast, put
		}
		if put += 50; err != nil || time.Now().After(deadline) {
			t.Fatalf("got %v, want %v", err, storage.ErrUnavailable)
		}
	}
}

// checkReopened checks that the index at a path, which is closed, contains at least so many items.
func checkReopened(t *testing.T, path string, put int) {
	t.Helper()
	x := open(t, path)
	defer x.Close()
	if n, err := x.Count(t.Context()); err != nil || n < int64(put) {
		t.Errorf("after it was opened again: got %d items, %v; want at least %d", n, err, put)
	}
}

// A full disk is reported by a later batch. All batches are on disk when it has space again.
func TestBuffer_FullDiskIsReportedAndRecovered(t *testing.T) {
	x, path, ballast, put := smallIndex(t)
	if n, err := x.Count(t.Context()); err != nil || n < int64(put) {
		t.Errorf("while the disk is full: got %d items, %v; want at least %d", n, err, put)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	made := indextest.NewItemGenerator(2)
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
	checkReopened(t, path, put)
}

// An index that is closed right after the disk has space again writes all batches; one that is closed while the disk is full
// returns its error.
func TestBuffer_CloseRepeatsAFailedWrite(t *testing.T) {
	x, path, ballast, put := smallIndex(t)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	checkReopened(t, path, put)

	x, _, _, _ = smallIndex(t)
	if err := x.Close(); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("while the disk is full: got %v, want %v", err, storage.ErrUnavailable)
	}
}
