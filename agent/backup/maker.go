// Package backup makes backups of the store and the schedule of a running agent: on request ([Maker]), and by
// schedule in a folder or in S3-compatible storage ([Schedule]).
package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage/backup"
)

// minFree is the minimum of free space that a backup leaves on its disk: twice as much as fetching needs.
const minFree = 128 << 20

// Options are the parameters of [New].
type Options struct {
	Store    backup.Store
	Size     func(ctx context.Context) (int64, error) // bytes that a copy of the store takes at most
	Schedule func(ctx context.Context, each func(bucket, key string, value []byte) error) error
	Program  string                          // version of this program
	Free     func(dir string) (int64, error) // free bytes of a folder's disk
	Folder   string                          // of this process alone, for files that are sent elsewhere when they are complete
	Log      *slog.Logger
}

// A Maker makes backups. A lock allows one at a time. Its methods may be called concurrently.
type Maker struct {
	Options
	busy chan struct{} // a lock: holds a token while a backup is being made
	made atomic.Int64  // number of temporary files so far

	requested atomic.Pointer[backup.Info] // the last backup on request; nil: none
}

// New returns a maker. It deletes what an interrupted process left in the folder.
func New(o Options) *Maker {
	m := &Maker{Options: o, busy: make(chan struct{}, 1)}
	m.removePartial(m.Folder, "")
	return m
}

// partialSuffix ends the names of incomplete files.
const partialSuffix = ".partial"

// removePartial deletes the incomplete backups of a folder: those of an owner, or all.
func (m *Maker) removePartial(dir, owner string) {
	for _, end := range []string{"", "-journal", ".values*"} {
		left, _ := filepath.Glob(filepath.Join(dir, nameStart+owner+"*"+nameEnd+partialSuffix+end)) // the pattern is valid
		for _, name := range left {
			if err := os.Remove(name); err != nil {
				m.Log.Warn("incomplete backup not deleted", "file", name, "err", err)
			}
		}
	}
}

// make writes a backup to a new file. It waits for the lock.
func (m *Maker) make(ctx context.Context, path string) (backup.Info, error) {
	select {
	case m.busy <- struct{}{}:
		defer func() { <-m.busy }()
	case <-ctx.Done():
		return backup.Info{}, ctx.Err()
	}
	size, err := m.Size(ctx)
	if err == nil {
		err = m.checkSpace(path, size)
	}
	if err != nil {
		return backup.Info{}, fmt.Errorf("make a backup: %w", err)
	}
	started := time.Now()
	info, err := backup.Create(ctx, path, backup.Options{
		Store: m.Store, Program: m.Program, Values: m.Schedule, CheckSpace: func() error { return m.checkSpace(path, 0) },
	})
	if err == nil {
		m.Log.Info("backup made", "bytes", info.Size, "items", info.Rows["items"], "feeds", info.Rows["feeds"], "took", time.Since(started).Round(time.Millisecond))
	}
	return info, err
}

// checkSpace returns nil if so many bytes can be written to the file, and enough space remains.
func (m *Maker) checkSpace(path string, size int64) error {
	dir := filepath.Dir(path)
	free, err := m.Free(dir)
	if err != nil {
		return fmt.Errorf("read the free space of the disk of %s: %w", dir, err)
	}
	if free < size+minFree {
		return fmt.Errorf("the disk of %s has too little space for a backup: %v free, %v required: free some space, or choose another folder",
			dir, config.Bytes(free>>20<<20), config.Bytes((size+minFree)>>20<<20))
	}
	return nil
}

// Make makes a backup in a temporary file, which is deleted when the caller closes the body. It waits while another
// is being made.
func (m *Maker) Make(ctx context.Context) (wire.Download, error) {
	name := fileName("", time.Now())
	path := filepath.Join(m.Folder, fmt.Sprintf("%s%d.db%s", nameStart, m.made.Add(1), partialSuffix))
	info, err := m.make(ctx, path)
	if err != nil {
		return wire.Download{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return wire.Download{}, errors.Join(err, os.Remove(path))
	}
	m.requested.Store(&info)
	return wire.Download{Name: name, Type: wire.MakeBackup.Type, Size: info.Size, Body: temporaryFile{f}}, nil
}

// State returns the state of the scheduled backups, and the last backup on request; nil if there is neither.
func (m *Maker) State(s *Schedule) *wire.BackupState {
	state := s.State()
	if last := m.requested.Load(); last != nil {
		if state == nil {
			state = &wire.BackupState{}
		}
		state.Requested, state.RequestedSize = last.Made, last.Size
	}
	return state
}

// A temporaryFile is deleted when it is closed.
type temporaryFile struct{ *os.File }

func (f temporaryFile) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }
