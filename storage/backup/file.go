package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

// fileURI returns the URI of a file for SQLite.
func fileURI(path, parameters string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: parameters}
	return u.String(), nil
}

// quoted returns the text for a SQL string in single quotes.
func quoted(text string) string { return strings.ReplaceAll(text, "'", "''") }

// removeFile deletes a SQLite file and those that SQLite keeps beside it, as far as they exist.
func removeFile(path string) error {
	var errs []error
	for _, name := range []string{path, path + "-journal", path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// withFile calls do with a connection to a file that no other program uses. The file has no write-ahead log.
func withFile(ctx context.Context, path string, do func(*sql.Conn) error) error {
	return withConn(ctx, path, "", `PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL`, do)
}

// withReadOnly calls do with a connection that can't write to the file.
func withReadOnly(ctx context.Context, path string, do func(*sql.Conn) error) error {
	return withConn(ctx, path, "mode=ro", `PRAGMA busy_timeout = 10000`, do)
}

func withConn(ctx context.Context, path, parameters, pragmas string, do func(*sql.Conn) error) (err error) {
	name, err := fileURI(path, parameters)
	if err != nil {
		return err
	}
	db, err := driver.Open(name, func(c *sqlite3.Conn) error { return c.Exec(pragmas) }, closing)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return do(conn)
}

// closing prepares a connection for its end, which may be a checkpoint, as package sqlite does: the driver must not
// verify pages then.
func closing(c *sqlite3.Conn) error {
	c.SetInterrupt(context.Background())
	return c.Exec(`PRAGMA checksum_verification = OFF`)
}

// copyStep is the number of pages in a batch of a copy, 4 MB. After each batch the copy pauses for as long as it took:
// half of the disk and of a core remain for the agent.
const copyStep = 512

// copyPages copies the pages of the store in the file at from, as they are at one moment, to the file at to. The
// store's write-ahead log grows by what is written meanwhile.
func copyPages(ctx context.Context, from, to string, checkSpace func() error) error {
	target, err := fileURI(to, "")
	if err != nil {
		return err
	}
	// A connection that may write removes the log when it is the last one.
	return withConn(ctx, from, "mode=rw", `PRAGMA busy_timeout = 10000; PRAGMA query_only = ON`, func(conn *sql.Conn) error {
		return conn.Raw(func(driverConn any) (err error) {
			c := driverConn.(driver.Conn).Raw()
			// The transaction keeps the copy from starting again whenever another connection writes.
			if err := c.Exec(`BEGIN; SELECT count(*) FROM sqlite_schema`); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.Exec(`ROLLBACK`)) }()
			if err := prepareCopy(ctx, c, to); err != nil {
				return err
			}
			b, err := c.BackupInit("main", target)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			for {
				if err := checkSpace(); err != nil {
					return err
				}
				started := time.Now()
				done, err := b.Step(copyStep)
				if err != nil || done {
					return err
				}
				if err := pause(ctx, time.Since(started)); err != nil {
					return err
				}
			}
		})
	})
}

// prepareCopy gives the file at path a header with the source's page size and checksums. Otherwise the driver would
// write the pages before the first one without their checksums.
func prepareCopy(ctx context.Context, source *sqlite3.Conn, path string) error {
	reserved, err := source.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES)
	if err != nil || reserved != pageChecksum {
		return err
	}
	size, _, err := source.Prepare(`PRAGMA page_size`)
	if err != nil {
		return err
	}
	defer size.Close()
	size.Step()
	header := fmt.Sprintf(`PRAGMA page_size = %d; CREATE TABLE empty (number INTEGER)`, size.ColumnInt(0))
	return withConn(ctx, path, "", ``, func(conn *sql.Conn) error {
		err := conn.Raw(func(driverConn any) error {
			_, err := driverConn.(driver.Conn).Raw().FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, pageChecksum)
			return err
		})
		if err == nil {
			_, err = conn.ExecContext(ctx, header)
		}
		return err
	})
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// countRows returns the number of rows of each table.
func countRows(ctx context.Context, conn *sql.Conn) (map[string]int64, error) {
	names, err := storeTables(ctx, conn)
	if err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for _, name := range names {
		var n int64
		if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM `+name).Scan(&n); err != nil {
			return nil, fmt.Errorf("count %s: %w", name, err)
		}
		rows[name] = n
	}
	return rows, nil
}

// pageChecksum is the number of bytes that each page of a store reserves for its checksum, see package sqlite. The
// driver writes and verifies it.
const pageChecksum = 8

// addChecksums writes a file of an older version anew, with checksums of its pages.
func addChecksums(ctx context.Context, conn *sql.Conn) error {
	reserved := 0
	err := conn.Raw(func(driverConn any) (err error) {
		file := driverConn.(driver.Conn).Raw()
		previous, err := file.FileControl("main", sqlite3.FCNTL_RESERVE_BYTES, pageChecksum)
		reserved, _ = previous.(int)
		return err
	})
	if err != nil || reserved == pageChecksum {
		return err
	}
	_, err = conn.ExecContext(ctx, `VACUUM`)
	return err
}
