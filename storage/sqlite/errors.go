package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ncruces/go-sqlite3"

	"feedmesh/storage"
)

// translateError translates an engine error. A damaged file is [storage.ErrDamaged]. An unwritable disk is
// [storage.ErrUnavailable], and a full disk also [syscall.ENOSPC]. If ctx ended the call, even one that waited for
// another process's lock, the result is ctx's error.
func translateError(ctx context.Context, path string, err error) error {
	switch {
	case ctx.Err() != nil && (errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, sqlite3.BUSY)):
		return ctx.Err()
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.IOERR_DATA), errors.Is(err, sqlite3.IOERR_CORRUPTFS), lacksPart(err):
		return damaged(err)
	case errors.Is(err, sqlite3.FULL):
		return fmt.Errorf("%w: the disk is full: %w (%w)", storage.ErrUnavailable, syscall.ENOSPC, err)
	case errors.Is(err, sqlite3.IOERR):
		if cause := checkWritable(filepath.Dir(path)); cause != nil {
			return fmt.Errorf("%w: %w: %w", storage.ErrUnavailable, err, cause)
		}
	case errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("the file is not a feedmesh store: move it, or choose another path; if it was a store, it is %w: restore a backup with agent restore: %w",
			storage.ErrDamaged, err)
	}
	return err
}

// lacksPart reports whether a statement names a table or a column that the file lacks. The migrations created all of them,
// so damage changed the text of the schema.
func lacksPart(err error) bool {
	return errors.Is(err, sqlite3.ERROR) && (strings.Contains(err.Error(), "no such column: ") || strings.Contains(err.Error(), "no such table: "))
}

// damaged adds the remedy to the cause of damage.
func damaged(cause error) error {
	return fmt.Errorf("the store is %w: stop the agent, keep the file, restore a backup with agent restore: %w", storage.ErrDamaged, cause)
}

// checkWritable tests whether the folder is writable and returns the error if not. The driver (v0.35.4) reports
// a full disk as an I/O error, without its cause.
func checkWritable(dir string) error {
	file, err := os.CreateTemp(dir, ".write-test-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(make([]byte, 1<<20))
	return errors.Join(err, file.Close())
}
