package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3"

	"feedmesh/storage"
)

// explain puts an error of the engine in words. A disk that can't be written to
// is [storage.ErrUnavailable], and [syscall.ENOSPC] too if it is full. A call that
// ctx ended, even one that waited for another process to write, has the reason
// why ctx ended.
func explain(ctx context.Context, path string, err error) error {
	switch {
	case ctx.Err() != nil && (errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, sqlite3.BUSY)):
		return ctx.Err()
	case errors.Is(err, sqlite3.FULL):
		return fmt.Errorf("%w: the disk is full: %w (%w)", storage.ErrUnavailable, syscall.ENOSPC, err)
	case errors.Is(err, sqlite3.IOERR):
		if cause := tryWriting(filepath.Dir(path)); cause != nil {
			return fmt.Errorf("%w: %w: %w", storage.ErrUnavailable, err, cause)
		}
	case errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("this file is no feedmesh store: move it away, or name another: %w", err)
	case errors.Is(err, sqlite3.CORRUPT):
		return fmt.Errorf("the file is damaged: restore it from a backup: %w", err)
	}
	return err
}

// tryWriting returns why little can be written to the folder now, if so. The
// engine's driver (v0.35.4) calls a full disk an I/O error, and forgets why.
func tryWriting(dir string) error {
	file, err := os.CreateTemp(dir, ".write-test-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(make([]byte, 1<<20))
	return errors.Join(err, file.Close())
}
