// Package backup makes backups of a store and of the schedule's values that belong to it, and opens them. A backup
// is one SQLite file with the tables of a SQLite store, whatever engine it was made of, and two more: backup has one
// row that describes it, backup_values the values of buckets. A checksum follows the pages: see [Verify].
package backup

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"

	"feedmesh/storage/sqlite"
	"feedmesh/storage/tables"
)

// format is the version of the format of backups. Programs reject backups of a newer format.
const format = 1

// Info describes a backup.
type Info struct {
	Program string           `json:"program"` // version of the program that made it
	Made    time.Time        `json:"made"`
	Engine  string           `json:"engine"` // of the store: sqlite or postgresql
	StoreID string           `json:"store"`
	Rows    map[string]int64 `json:"rows"`   // of each table
	Values  int64            `json:"values"` // of buckets
	Size    int64            `json:"size"`   // bytes of the file
}

// A Store is an open store that a backup is made of.
type Store struct {
	File   string // of a SQLite store; empty: Export reads the store
	Engine string
	Export func(ctx context.Context, each func(tables.Copy) error) error
}

// Options are the parameters of [Create].
type Options struct {
	Store   Store
	Program string // version of this program

	// Values calls put for each value of the buckets. It is called before the store is read, so that no value is
	// newer than the store.
	Values func(ctx context.Context, put func(bucket, key string, value []byte) error) error

	// CheckSpace returns an error if the disk of the backup has too little free space to continue; called several
	// times a second.
	CheckSpace func() error
}

// Create writes a backup to a new file at path, verifies it, and syncs it to disk. The store is in use meanwhile:
// the copy has the state of one moment. On an error no file remains.
func Create(ctx context.Context, path string, o Options) (_ Info, err error) {
	defer func() {
		if err != nil {
			os.Remove(path)
			os.Remove(path + "-journal")
			err = fmt.Errorf("make backup %s: %w", filepath.Base(path), err)
		}
	}()
	if err := createFile(path); err != nil {
		return Info{}, err
	}
	values := path + ".values"
	if err := createFile(values); err != nil {
		return Info{}, err
	}
	defer os.Remove(values)
	if err := writeValues(ctx, values, o.Values); err != nil {
		return Info{}, fmt.Errorf("read the schedule: %w", err)
	}
	if o.Store.File != "" {
		err = copyPages(ctx, o.Store.File, path, o.CheckSpace)
	} else {
		err = copyTables(ctx, path, o)
	}
	if errors.Is(err, sqlite3.IOERR_DATA) || errors.Is(err, sqlite3.CORRUPT) {
		err = fmt.Errorf("%w: %w", errDamagedStore, err)
	}
	if err != nil {
		return Info{}, fmt.Errorf("copy the store: %w", err)
	}
	info := Info{Program: o.Program, Made: time.Now().UTC().Truncate(time.Second), Engine: o.Store.Engine}
	if err := describe(ctx, path, values, &info); err != nil {
		return Info{}, err
	}
	if err := seal(path); err != nil {
		return Info{}, err
	}
	return Verify(ctx, path)
}

var errDamagedStore = errors.New("the store is damaged: restore it from an older backup")

// createFile creates an empty file that only its owner can read. It replaces what an interrupted backup left.
func createFile(path string) error {
	if err := removeFile(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// copyTables makes a SQLite store at path and copies the tables of another engine to it.
func copyTables(ctx context.Context, path string, o Options) error {
	empty, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	if err := empty.Close(); err != nil {
		return err
	}
	return withFile(ctx, path, func(conn *sql.Conn) error {
		return fillTables(ctx, conn, o.Store.Export, o.CheckSpace)
	})
}

const valuesTable = `(bucket TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (bucket, key)) STRICT`

func writeValues(ctx context.Context, path string, read func(context.Context, func(bucket, key string, value []byte) error) error) error {
	return withFile(ctx, path, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, `CREATE TABLE backup_values `+valuesTable+`; BEGIN`); err != nil {
			return err
		}
		insert, err := conn.PrepareContext(ctx, `INSERT INTO backup_values VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`)
		if err != nil {
			return err
		}
		defer insert.Close()
		err = read(ctx, func(bucket, key string, value []byte) error {
			_, err := insert.ExecContext(ctx, bucket, key, append([]byte{}, value...))
			return err
		})
		if err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, `COMMIT`)
		return err
	})
}

// describe checks the copy of the store at path, and adds the values and the description.
func describe(ctx context.Context, path, values string, info *Info) error {
	return withFile(ctx, path, func(conn *sql.Conn) error {
		var damage string
		if err := conn.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&damage); err != nil {
			return fmt.Errorf("check the copy: %w", err)
		}
		if damage != "ok" {
			return fmt.Errorf("%w: %s", errDamagedStore, damage)
		}
		err := conn.QueryRowContext(ctx, `SELECT id FROM store`).Scan(&info.StoreID)
		if err == nil {
			info.Rows, err = countRows(ctx, conn)
		}
		if err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, `
			CREATE TABLE backup (format INTEGER NOT NULL, program TEXT NOT NULL, made INTEGER NOT NULL, engine TEXT NOT NULL, rows TEXT NOT NULL) STRICT;
			CREATE TABLE backup_values `+valuesTable+`;
			ATTACH '`+quoted(values)+`' AS side;
			INSERT INTO backup_values SELECT * FROM side.backup_values;
			DETACH side`)
		if err != nil {
			return fmt.Errorf("add the schedule: %w", err)
		}
		rows, err := json.Marshal(info.Rows)
		if err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, `INSERT INTO backup VALUES (?, ?, ?, ?, ?)`, format, info.Program, info.Made.UnixMicro(), info.Engine, string(rows))
		return err
	})
}
