package backup

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"time"

	"feedmesh/storage/sqlite"
	"feedmesh/storage/tables"
)

// Verify reads a backup whole and returns its description. It returns [ErrDamaged] if a bit differs from when it was
// made, and an error if a newer program made it in a form that this one can't read.
func Verify(ctx context.Context, path string) (Info, error) {
	if err := copySealed(io.Discard, path); err != nil {
		return Info{}, err
	}
	return readInfo(ctx, path)
}

// readInfo returns the description of a backup, or of a working copy, and compares it with the tables.
func readInfo(ctx context.Context, path string) (info Info, err error) {
	file, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	info.Size = file.Size()
	err = withReadOnly(ctx, path, func(conn *sql.Conn) error {
		var version int
		var made int64
		var rows string
		err := conn.QueryRowContext(ctx, `SELECT format, program FROM backup`).Scan(&version, &info.Program)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		case version > format:
			return fmt.Errorf("feedmesh %s made the backup in a newer format, %d, and this program reads only %d: use that program", info.Program, version, format)
		}
		err = conn.QueryRowContext(ctx, `SELECT made, engine, rows, (SELECT id FROM store), (SELECT count(*) FROM backup_values) FROM backup`).
			Scan(&made, &info.Engine, &rows, &info.StoreID, &info.Values)
		if err == nil {
			err = json.Unmarshal([]byte(rows), &info.Rows)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		info.Made = time.UnixMicro(made).UTC()
		counted, err := countRows(ctx, conn)
		if err == nil && !maps.Equal(counted, info.Rows) {
			err = fmt.Errorf("%w: it has %v rows and should have %v", ErrDamaged, counted, info.Rows)
		}
		return err
	})
	return info, err
}

// IsEmpty reports whether a SQLite store has no records.
func IsEmpty(ctx context.Context, path string) (empty bool, err error) {
	err = withReadOnly(ctx, path, func(conn *sql.Conn) error {
		rows, err := countRows(ctx, conn)
		delete(rows, "store") // has the ID
		empty = true
		for _, n := range rows {
			empty = empty && n == 0
		}
		return err
	})
	return empty, err
}

// A Copy is a working copy of a backup, of which a store is restored.
type Copy struct {
	Info Info
	path string
}

// Open verifies a backup and copies it to a new file at path, whose schema is migrated to that of this program. It
// replaces what an interrupted call left there.
func Open(ctx context.Context, backup, path string) (_ *Copy, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore %s: %w", filepath.Base(backup), err)
		}
	}()
	if err := createFile(path); err != nil {
		return nil, err
	}
	c := &Copy{path: path}
	if err := c.load(ctx, backup); err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

func (c *Copy) load(ctx context.Context, backup string) error {
	file, err := os.OpenFile(c.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(copySealed(file, backup), file.Close()); err != nil {
		return err
	}
	if c.Info, err = readInfo(ctx, c.path); err != nil {
		return err
	}
	migrated, err := sqlite.Open(ctx, c.path)
	if err != nil {
		return err
	}
	return migrated.Close()
}

// Values calls each for every value of the buckets.
func (c *Copy) Values(ctx context.Context, each func(bucket, key string, value []byte) error) error {
	return withFile(ctx, c.path, func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, `SELECT bucket, key, value FROM backup_values ORDER BY bucket, key`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var bucket, key string
			var value []byte
			if err := rows.Scan(&bucket, &key, &value); err != nil {
				return err
			}
			if err := each(bucket, key, value); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// Tables calls each for every table, to fill the store of another engine.
func (c *Copy) Tables(ctx context.Context, each func(tables.Copy) error) error {
	return withFile(ctx, c.path, func(conn *sql.Conn) error { return readTables(ctx, conn, each) })
}

// MoveTo makes the copy the SQLite store at path. It replaces an empty store there; the new one is complete or not there.
func (c *Copy) MoveTo(ctx context.Context, path string) error {
	err := withFile(ctx, c.path, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, `BEGIN; DROP TABLE backup_values; DROP TABLE backup; COMMIT`)
		if err == nil {
			err = addChecksums(ctx, conn)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := removeFile(path); err != nil {
		return err
	}
	return Commit(c.path, path)
}

// Remove deletes the working copy if it is still there.
func (c *Copy) Remove() error { return removeFile(c.path) }
