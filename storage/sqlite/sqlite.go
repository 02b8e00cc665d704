// Package sqlite implements [storage.Store] in one SQLite file, the store of a single node. [Open] opens the
// file. Several processes may open it; a lock serializes their writes.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"feedmesh/storage"
)

var _ storage.Store = (*Store)(nil)

// Store is a [storage.Store] in an SQLite file. Each part of the store has a type.
type Store struct {
	*engine
	feedStore
	itemStore
	labelStore
	storyStore
	markStore
	memberStore
	deliveryStore
	recordStore
	fenceStore
	retentionStore
}

// Parts of a [Store].
type (
	feedStore      struct{ *engine }
	itemStore      struct{ *engine }
	labelStore     struct{ *engine }
	storyStore     struct{ *engine }
	markStore      struct{ *engine }
	memberStore    struct{ *engine }
	deliveryStore  struct{ *engine }
	recordStore    struct{ *engine }
	fenceStore     struct{ *engine }
	retentionStore struct{ *engine }
)

// An engine opens connections to the file and runs transactions.
type engine struct {
	path    string
	writers *sql.DB
	readers *sql.DB

	writeLock chan struct{} // contains a value while the write lock is held

	mu      sync.Mutex
	pending []*change // to be committed in one transaction

	write     *writer     // nil while the writer connection is closed
	idleTimer *time.Timer // closes the idle writer connection
	read      *statements // of the readers

	checkpointPages int                           // see the constant
	connections     atomic.Int32                  // open ones
	log             atomic.Pointer[logEnd]        // nil before the first commit
	verified        verifiedLog                   // of scanLog alone
	changed         atomic.Pointer[chan struct{}] // closed and replaced by a commit

	damage  atomic.Pointer[error] // damage found; nothing is written after it
	ending  context.Context       // ends with Close
	end     func()                // ends ending
	scanner sync.WaitGroup        // runs scanFile

	stampsMu   sync.Mutex
	stampCache stampCache

	feedIDs feedIDs
}

// readerPoolSize is the size of the pool of reading connections. Each costs up to 2 MB of page cache.
const readerPoolSize = 4

// idleTimeout is the idle timeout of a connection. A connection with its cache takes up to 20 MB, and opening
// another takes some milliseconds.
const idleTimeout = 30 * time.Second

// A commit must survive a crash of the process and a power failure: synchronous=FULL syncs the log at every
// commit, and fullfsync makes macOS flush to the disk.
//
// The log is checkpointed at 64 MB (checkpointPages) instead of the default 8 MB. A checkpoint writes each page
// once, however often the log contains it, and inserted items change random pages of several indexes again
// and again. This saves a sixth of the time of inserts. After a long read has let the log grow, it is
// truncated to journal_size_limit bytes.
//
// Changed rows are overwritten (secure_delete), so that passwords do not stay in free parts of pages; FAST omits pages
// that would have to be written for this alone.
//
// A new item changes some twelve pages, so pages of 4 KB instead of 8 KB halve what a transaction of one document writes,
// and store 100,000 items of 5 KB in a sixth less space. A store with other pages keeps them.
const writerPragmas = `
	PRAGMA busy_timeout = 10000;
	PRAGMA page_size = 4096;
	PRAGMA secure_delete = FAST;
	PRAGMA synchronous = FULL;
	PRAGMA fullfsync = ON;
	PRAGMA checkpoint_fullfsync = ON;
	PRAGMA journal_size_limit = 67108864;
	PRAGMA cache_size = -16384`

const readerPragmas = `
	PRAGMA busy_timeout = 10000;
	PRAGMA query_only = ON`

// Open opens the store in the file at path. It creates the file, but not its folder. It migrates an older
// schema, and returns an error for a newer schema or a file of another program.
//
// The whole file is verified in the background, now and once a day, and its log every 20 seconds after it was written. After damage was
// found, by that or by any call, [Store.ID] and all writes return [storage.ErrDamaged].
func Open(ctx context.Context, path string) (_ *Store, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %s: %w", path, translateError(ctx, path, err))
		}
	}()
	// SQLite never parses an absolute path as a URI.
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	e := &engine{path: path, writeLock: make(chan struct{}, 1), checkpointPages: checkpointPages}
	e.changed.Store(new(make(chan struct{})))
	e.ending, e.end = context.WithCancel(context.Background())
	if e.writers, err = driver.Open(abs, e.writing, e.closing); err != nil {
		return nil, err
	}
	if e.readers, err = driver.Open(abs, e.reading, e.closing); err != nil {
		return nil, errors.Join(err, e.writers.Close())
	}
	e.writers.SetMaxOpenConns(1)
	e.writers.SetMaxIdleConns(0) // the only connection belongs to the writer until it is idle
	e.readers.SetMaxOpenConns(readerPoolSize)
	e.readers.SetMaxIdleConns(readerPoolSize)
	// The reconciler reads every half minute, so one connection stays open. If all were closed, each close
	// would checkpoint the log.
	e.readers.SetConnMaxIdleTime(3 * idleTimeout)
	if err := e.prepare(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.scanner.Go(e.scanFile)
	return &Store{e, feedStore{e}, itemStore{e}, labelStore{e}, storyStore{e}, markStore{e}, memberStore{e}, deliveryStore{e}, recordStore{e}, fenceStore{e}, retentionStore{e}}, nil
}

// writing prepares the connection for writes.
func (e *engine) writing(c *sqlite3.Conn) error {
	c.WALHook(e.committed)
	return e.opened(errors.Join(registerFunctions(c), c.Exec(writerPragmas), requestChecksums(c)))
}

// reading prepares a connection for reads.
func (e *engine) reading(c *sqlite3.Conn) error {
	return e.opened(errors.Join(registerFunctions(c), c.Exec(readerPragmas)))
}

// opened counts a connection that was opened without an error. The driver calls closing only for these.
func (e *engine) opened(err error) error {
	if err == nil {
		e.connections.Add(1)
	}
	return err
}

// prepare migrates the schema.
func (e *engine) prepare(ctx context.Context) error {
	conn, err := e.writers.Conn(ctx)
	if err != nil {
		return err
	}
	if err := migrate(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	if err := e.addChecksums(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	e.write = newWriter(conn)
	e.idleTimer = time.AfterFunc(idleTimeout, e.closeIdleWriter)
	e.read = &statements{on: e.readers}
	return nil
}

// writer returns the open writer, or opens one. The caller holds the write lock.
func (e *engine) writer(ctx context.Context) (*writer, error) {
	if e.write == nil {
		conn, err := e.writers.Conn(ctx)
		if err != nil {
			return nil, err
		}
		e.write = newWriter(conn)
	}
	e.idleTimer.Reset(idleTimeout)
	return e.write, nil
}

// closeIdleWriter closes the idle writer until the next write. It ignores errors, because everything written is
// committed.
func (e *engine) closeIdleWriter() {
	e.writeLock <- struct{}{}
	defer func() { <-e.writeLock }()
	_ = e.closeWriter()
}

// closeWriter closes the writer if it is open. The caller holds the write lock.
func (e *engine) closeWriter() error {
	if e.write == nil {
		return nil
	}
	err := e.write.close()
	e.write = nil
	return err
}

// ID implements [storage.Store].
func (e *engine) ID(ctx context.Context) (id string, err error) {
	if err = e.checkDamage(); err == nil {
		err = e.read.row(ctx, `SELECT id FROM store`).Scan(&id)
	}
	return id, e.wrap(ctx, "read the ID", err)
}

// Changed implements [storage.Store].
func (e *engine) Changed() <-chan struct{} { return *e.changed.Load() }

// Close implements [storage.Store]. It waits for a running write.
func (e *engine) Close() error {
	e.end()
	e.scanner.Wait()
	e.writeLock <- struct{}{}
	defer func() { <-e.writeLock }()
	if e.idleTimer != nil {
		e.idleTimer.Stop()
	}
	return errors.Join(e.readers.Close(), e.closeWriter(), e.writers.Close())
}

// transaction runs work in its own transaction.
func (e *engine) transaction(ctx context.Context, operation string, work func(*writer) error) error {
	select {
	case e.writeLock <- struct{}{}:
		defer func() { <-e.writeLock }()
	case <-ctx.Done():
		return e.wrap(ctx, operation, ctx.Err())
	}
	return e.wrap(ctx, operation, e.transact(ctx, work))
}

// inTransaction runs work in its own transaction and returns its result, the zero value on an error.
func inTransaction[T any](ctx context.Context, e *engine, operation string, work func(*writer) (T, error)) (T, error) {
	var result, none T
	err := e.transaction(ctx, operation, func(w *writer) (err error) {
		result, err = work(w)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// transact runs work in a transaction that takes SQLite's write lock at its start, so that no other process
// changes the rows that work reads. The caller holds the write lock of this process.
func (e *engine) transact(ctx context.Context, work func(*writer) error) error {
	if err := e.checkDamage(); err != nil {
		return err
	}
	w, err := e.writer(ctx)
	if err != nil {
		return err
	}
	if _, err := w.conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	// End every started transaction, and commit finished work, even if ctx has ended or work panics.
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
		return cmp.Or(e.checkDamage(), err) // of the log, see committed
	}
	committed = true
	return nil
}

// wrap adds the operation to err.
func (e *engine) wrap(ctx context.Context, operation string, err error) error {
	switch {
	case err == nil, errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrFenced),
		errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrTooLarge), errors.Is(err, storage.ErrTooMany):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return storage.ErrNotFound
	}
	err = translateError(ctx, e.path, err)
	if errors.Is(err, storage.ErrDamaged) {
		e.damage.CompareAndSwap(nil, &err)
	}
	return fmt.Errorf("%s in %s: %w", operation, e.path, err)
}

// checkDamage returns the damage found since Open.
func (e *engine) checkDamage() error {
	if damage := e.damage.Load(); damage != nil {
		return *damage
	}
	return nil
}
