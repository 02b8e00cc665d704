// Package sqlite keeps feeds and items in one SQLite file: the store of a single
// node. Several processes may have the file open; their writes take turns.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"feedmesh/storage"
)

var _ storage.Store = (*Store)(nil)

// Store is a [storage.Store] in an SQLite file.
type Store struct {
	path    string
	writers *sql.DB
	readers *sql.DB

	turn chan struct{} // holds a value while someone writes

	mu      sync.Mutex
	waiting []*change // to be written in one transaction

	write *writer     // nil while it rests
	rest  *time.Timer // after which it does
	read  *reader

	walk  sync.Mutex
	ahead ahead
}

// readers is how many may read at once. Each costs up to 2 MB of page cache.
const readers = 4

// restAfter is how long nobody has used a connection when it is closed: with its
// cache it takes up to 20 MB, and to open another takes some milliseconds.
const restAfter = 30 * time.Second

// What a commit has answered for must outlive the process and the power:
// synchronous=FULL syncs the log at every commit, and fullfsync has macOS mean
// it. The log goes back into the file at 64 MB (8,000 pages), not at 8: each page
// only once, however often the log has it, and items put touch pages of several
// indexes at random, the same again and again. That saves a sixth of the time that
// putting them takes. A log that a long reader let grow is cut back to
// journal_size_limit bytes.
// Items of 2 KB fill pages of 8 KB to nine tenths, but of 4 KB to little more
// than half, and are written no slower.
const writerPragmas = `
	PRAGMA busy_timeout = 10000;
	PRAGMA page_size = 8192;
	PRAGMA synchronous = FULL;
	PRAGMA fullfsync = ON;
	PRAGMA checkpoint_fullfsync = ON;
	PRAGMA wal_autocheckpoint = 8000;
	PRAGMA journal_size_limit = 67108864;
	PRAGMA cache_size = -16384`

const readerPragmas = `
	PRAGMA busy_timeout = 10000;
	PRAGMA query_only = ON`

// Open opens the store in the file at path, which it creates if need be, in a
// folder that is there. It brings an older file up to date, and refuses one that
// is newer, or not a store.
func Open(ctx context.Context, path string) (_ *Store, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %s: %w", path, explain(ctx, path, err))
		}
	}()
	// An absolute path is never taken for a URI.
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, turn: make(chan struct{}, 1)}
	if s.writers, err = driver.Open(abs, pragmas(writerPragmas)); err != nil {
		return nil, err
	}
	if s.readers, err = driver.Open(abs, pragmas(readerPragmas)); err != nil {
		return nil, errors.Join(err, s.writers.Close())
	}
	s.writers.SetMaxOpenConns(1)
	s.writers.SetMaxIdleConns(0) // the one there is belongs to the writer until it rests
	s.readers.SetMaxOpenConns(readers)
	s.readers.SetMaxIdleConns(readers)
	// Who compares the index with the store asks each half minute: so one stays open.
	// If all were closed, the log would go back into the file each time.
	s.readers.SetConnMaxIdleTime(3 * restAfter)
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func pragmas(list string) func(*sqlite3.Conn) error {
	return func(c *sqlite3.Conn) error { return errors.Join(knowWords(c), c.Exec(list)) }
}

// prepare brings the schema up to date and prepares all statements.
func (s *Store) prepare(ctx context.Context) error {
	conn, err := s.writers.Conn(ctx)
	if err != nil {
		return err
	}
	if err := setUp(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	if s.write, err = newWriter(ctx, conn); err != nil {
		return err
	}
	s.rest = time.AfterFunc(restAfter, s.restWriter)
	s.read, err = newReader(ctx, s.readers)
	return err
}

// writer returns the writer, a new one if the last one rests. The caller has the
// turn.
func (s *Store) writer(ctx context.Context) (*writer, error) {
	if s.write == nil {
		conn, err := s.writers.Conn(ctx)
		if err != nil {
			return nil, err
		}
		w, err := newWriter(ctx, conn)
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		s.write = w
	}
	s.rest.Reset(restAfter)
	return s.write, nil
}

// restWriter closes the writer until there is something to write. What can't be
// closed well is gone all the same: all that it wrote is committed.
func (s *Store) restWriter() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	_ = s.closeWriter()
}

// closeWriter closes the writer if there is one. The caller has the turn.
func (s *Store) closeWriter() error {
	if s.write == nil {
		return nil
	}
	err := s.write.close()
	s.write = nil
	return err
}

// ID implements [storage.Store].
func (s *Store) ID(ctx context.Context) (id string, err error) {
	err = s.readers.QueryRowContext(ctx, `SELECT id FROM store`).Scan(&id)
	return id, s.failed(ctx, "read the ID", err)
}

// Ping implements [storage.Store].
func (s *Store) Ping(ctx context.Context) error {
	var version int
	err := s.readers.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version)
	return s.failed(ctx, "ping", err)
}

// Close implements [storage.Store]. It waits for the write in hand.
func (s *Store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.rest != nil {
		s.rest.Stop()
	}
	return errors.Join(s.readers.Close(), s.closeWriter(), s.writers.Close())
}

// change runs work in a transaction of its own.
func (s *Store) change(ctx context.Context, doing string, work func(*writer) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return s.failed(ctx, doing, ctx.Err())
	}
	return s.failed(ctx, doing, s.transact(ctx, work))
}

// transact runs work in a transaction that holds the only write lock from its
// start, so that what work reads is still so when it commits. The caller has the
// turn.
func (s *Store) transact(ctx context.Context, work func(*writer) error) error {
	w, err := s.writer(ctx)
	if err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	// What has begun is ended, and finished work committed, even if ctx is done
	// by now or work panics.
	end := context.WithoutCancel(ctx)
	committed := false
	defer func() {
		if !committed {
			w.conn.ExecContext(end, `ROLLBACK`)
		}
	}()
	if err := work(w); err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(end, `COMMIT`); err != nil {
		return err
	}
	committed = true
	return nil
}

// failed says what was being done when err happened.
func (s *Store) failed(ctx context.Context, doing string, err error) error {
	switch {
	case err == nil, errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrFenced),
		errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrTooLarge), errors.Is(err, storage.ErrTooMany):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return storage.ErrNotFound
	}
	return fmt.Errorf("%s in %s: %w", doing, s.path, explain(ctx, s.path, err))
}
