package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// A TemporaryFolder is a folder for the incomplete backups of one process that has no data folder. Only its user may
// read it. The process holds a lock on it.
type TemporaryFolder struct {
	Path string
	lock *flock.Flock
}

const (
	temporaryStart = "feedmesh-backups-"
	lockName       = "lock"
)

// NewTemporaryFolder creates a folder in parent. It deletes those that killed processes left there.
func NewTemporaryFolder(parent string) (*TemporaryFolder, error) {
	left, _ := filepath.Glob(filepath.Join(parent, temporaryStart+"*")) // the pattern is valid
	for _, path := range left {
		if f := (&TemporaryFolder{path, flock.New(filepath.Join(path, lockName), flock.SetFlag(os.O_RDWR))}); f.acquire() == nil {
			f.Close() // a folder that remains is deleted by a later start
		}
	}
	path, err := os.MkdirTemp(parent, temporaryStart)
	if err != nil {
		return nil, fmt.Errorf("create a folder for temporary backups: %w", err)
	}
	f := &TemporaryFolder{path, flock.New(filepath.Join(path, lockName))}
	if err := f.acquire(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return f, nil
}

// acquire locks the folder, or returns an error if it is in use.
func (f *TemporaryFolder) acquire() error {
	ours, err := f.lock.TryLock()
	if err == nil && !ours {
		err = errors.New("in use")
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Path, err)
	}
	return nil
}

// Close deletes the folder.
func (f *TemporaryFolder) Close() error {
	return errors.Join(f.lock.Close(), os.RemoveAll(f.Path))
}
