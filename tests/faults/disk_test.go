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

// A disk is one of its own, in memory, that can be filled.
type disk struct{ path string }

// newDisk mounts a disk at a folder until the test ends. Only root may.
func newDisk(t *testing.T, path string, size int64) (*disk, error) {
	if err := syscall.Mount("faults", path, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0755", size)); err != nil {
		return nil, fmt.Errorf("mount a disk at %s: %w", path, err)
	}
	t.Cleanup(func() { syscall.Unmount(path, syscall.MNT_DETACH) })
	return &disk{path}, nil
}

func (d *disk) ballast() string { return filepath.Join(d.path, "ballast") }

// fill leaves no room on the disk.
func (d *disk) fill() error {
	f, err := os.Create(d.ballast())
	if err != nil {
		return fmt.Errorf("fill a disk: %w", err)
	}
	defer f.Close()
	var block [64 << 10]byte
	for {
		if _, err := f.Write(block[:]); errors.Is(err, syscall.ENOSPC) {
			return nil
		} else if err != nil {
			return fmt.Errorf("fill a disk: %w", err)
		}
	}
}

// free gives the room back.
func (d *disk) free() { os.Remove(d.ballast()) }
