//go:build linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk is a separate file system in memory that can be filled.
type disk struct {
	path string
	size int64
}

// newDisk mounts a disk at a folder until the test ends. It requires root.
func newDisk(t *testing.T, path string, size int64) (*disk, error) {
	d := &disk{path, size}
	if err := d.mount(0, size); err != nil {
		return nil, err
	}
	t.Cleanup(func() { syscall.Unmount(path, syscall.MNT_DETACH) })
	return d, nil
}

func (d *disk) mount(flags uintptr, size int64) error {
	if err := syscall.Mount("faults", d.path, "tmpfs", flags, fmt.Sprintf("size=%d,mode=0755", size)); err != nil {
		return fmt.Errorf("mount a disk at %s: %w", d.path, err)
	}
	return nil
}

// fill shrinks the disk to its contents, which needs no memory.
func (d *disk) fill() error {
	for {
		var now syscall.Statfs_t
		if err := syscall.Statfs(d.path, &now); err != nil {
			return fmt.Errorf("fill a disk: %w", err)
		}
		err := d.mount(syscall.MS_REMOUNT, int64(now.Blocks-now.Bfree)*now.Bsize)
		if !errors.Is(err, syscall.EINVAL) { // EINVAL: the contents grew meanwhile
			return err
		}
	}
}

// free restores the disk's size.
func (d *disk) free() error { return d.mount(syscall.MS_REMOUNT, d.size) }

func TestDisk_FillAndFree(t *testing.T) {
	path := t.TempDir()
	d, err := newDisk(t, path, diskSize)
	if err != nil {
		t.Skip(err)
	}
	write := func(name string) error { return os.WriteFile(filepath.Join(path, name), make([]byte, 64<<10), 0o600) }
	if err := errors.Join(write("before"), d.fill()); err != nil {
		t.Fatal(err)
	}
	if err := write("full"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("write to a full disk: got %v, want %v", err, syscall.ENOSPC)
	}
	if err := errors.Join(d.free(), write("after")); err != nil {
		t.Errorf("write to a disk with free space again: %v", err)
	}
}
