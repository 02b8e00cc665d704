// Package postgres implements [storage.Store] in a PostgreSQL database that the agents of a mesh share.
// [Open] migrates the schema and opens a connection pool.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"feedmesh/storage"
)

var _ storage.Store = (*Store)(nil)

// Store is a [storage.Store] in a PostgreSQL database. It reconnects after the server was unreachable. Each
// part of the store has a type.
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

// An engine connects to the database and runs transactions.
type engine struct {
	pool   *pgxpool.Pool
	damage damage
}

// Open opens the store in the database at url. Its user needs only the right to create tables there. It
// migrates an older schema; concurrent migrations are safe. The error states a remedy, and never contains the
// password. It is [storage.ErrUnavailable] if a retry may succeed.
//
// A call that reads a damaged page returns [storage.ErrDamaged]. From then on [Store.ID] returns it too, until the
// server is started again or another takes its place.
//
// The url accepts the parameters of PostgreSQL and pgx, such as pool_max_conns. A url with several servers
// should contain target_session_attrs=read-write, to find the primary after a failover.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := poolConfig(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	e := &engine{pool: pool}
	if err := e.prepare(ctx, func(conn *pgx.Conn) error { return migrate(ctx, conn, schema) }); err != nil {
		pool.Close()
		return nil, err
	}
	return &Store{e, feedStore{e}, itemStore{e}, labelStore{e}, storyStore{e}, markStore{e}, memberStore{e}, deliveryStore{e}, recordStore{e}, fenceStore{e}, retentionStore{e}}, nil
}

// Check returns nil if [Open] could use the server at url, or Open's error. It changes nothing.
func Check(ctx context.Context, url string) error {
	config, err := poolConfig(url)
	if err != nil {
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	return (&engine{pool: pool}).prepare(ctx, func(*pgx.Conn) error { return nil })
}

// prepare checks the server, calls then, and explains the error to the user.
func (e *engine) prepare(ctx context.Context, then func(*pgx.Conn) error) error {
	err := e.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		if err := checkServer(conn.Conn().PgConn()); err != nil {
			return err
		}
		return then(conn.Conn())
	})
	if err = contractError(ctx, err); err != nil {
		c := e.pool.Config().ConnConfig
		return fmt.Errorf("open database %q at %s:%d as %q: %w", c.Database, c.Host, c.Port, c.User, withRemedy(err, c))
	}
	return nil
}

// ID implements [storage.Store].
func (e *engine) ID(ctx context.Context) (id string, err error) {
	var started time.Time
	err = e.do(ctx, "read the ID", func(ctx context.Context) error {
		return e.pool.QueryRow(ctx, `SELECT id, pg_postmaster_start_time() FROM store`).Scan(&id, &started)
	})
	if err == nil {
		err = e.damage.found(started)
	}
	return id, err
}

// Changed implements [storage.Store].
func (e *engine) Changed() <-chan struct{} { return nil }

// Close implements [storage.Store]. It waits until running calls have returned their connections to the pool.
func (e *engine) Close() error {
	e.pool.Close()
	return nil
}

// defaultTimeout is the timeout of a call, even if the server stops responding.
const defaultTimeout = time.Minute

// maxAttempts bounds the attempts and retries of a call that conflicts with concurrent transactions.
const maxAttempts = 5

// do runs work with the default timeout, retries after conflicts with concurrent transactions, and adds the
// operation to the error.
func (e *engine) do(ctx context.Context, operation string, work func(context.Context) error) error {
	return e.doWithTimeout(ctx, defaultTimeout, operation, work)
}

// doWithTimeout is do with another timeout.
func (e *engine) doWithTimeout(ctx context.Context, timeout time.Duration, operation string, work func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := work(limited)
	for try := 1; try < maxAttempts && conflicts(err); try++ {
		time.Sleep(rand.N(20 * time.Millisecond << try))
		err = work(limited)
	}
	if readOnly(err) {
		e.pool.Reset() // reconnect, because another server may be the primary now
	}
	return e.wrap(ctx, operation, err)
}

// transaction runs work in a transaction, with retries. If the connection fails during the commit, its result is
// unknown, so repeating work must be harmless.
func (e *engine) transaction(ctx context.Context, operation string, work func(context.Context, pgx.Tx) error) error {
	return e.transactionWithTimeout(ctx, defaultTimeout, operation, work)
}

// transactionWithTimeout is transaction with another timeout.
func (e *engine) transactionWithTimeout(ctx context.Context, timeout time.Duration, operation string, work func(context.Context, pgx.Tx) error) error {
	return e.doWithTimeout(ctx, timeout, operation, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error { return work(ctx, tx) })
	})
}

// inTransaction is [engine.transactionWithTimeout] for work with a result; on an error it is the zero value.
func inTransaction[T any](ctx context.Context, e *engine, timeout time.Duration, operation string, work func(context.Context, pgx.Tx) (T, error)) (T, error) {
	var result, none T
	err := e.transactionWithTimeout(ctx, timeout, operation, func(ctx context.Context, tx pgx.Tx) (err error) {
		result, err = work(ctx, tx)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// A querier is a connection pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// collect runs a statement and returns its scanned rows.
func collect[T any](ctx context.Context, on querier, scan pgx.RowToFunc[T], statement string, args ...any) ([]T, error) {
	rows, err := on.Query(ctx, statement, clean(args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// one is [collect] for exactly one row; without rows it returns [pgx.ErrNoRows].
func one[T any](ctx context.Context, on querier, scan pgx.RowToFunc[T], statement string, args ...any) (T, error) {
	rows, err := on.Query(ctx, statement, clean(args...)...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectOneRow(rows, scan)
}

// read is [collect] outside of a transaction, with retries.
func read[T any](ctx context.Context, e *engine, operation string, scan pgx.RowToFunc[T], statement string, args ...any) (all []T, err error) {
	err = e.do(ctx, operation, func(ctx context.Context) (err error) {
		all, err = collect(ctx, e.pool, scan, statement, args...)
		return err
	})
	return all, err
}

// readMap is [read] for a result whose rows are the entries of a map.
func readMap[K comparable, V any](ctx context.Context, e *engine, operation string, scan func(pgx.CollectableRow, *K, *V) error, statement string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	_, err := read(ctx, e, operation, func(row pgx.CollectableRow) (key K, err error) {
		var value V
		err = scan(row, &key, &value)
		all[key] = value
		return key, err
	}, statement, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// wrap adds the operation to err, and records damage.
func (e *engine) wrap(ctx context.Context, operation string, err error) error {
	err = wrap(ctx, operation, err)
	if errors.Is(err, storage.ErrDamaged) {
		e.damage.record(err)
	}
	return err
}

// wrap adds the operation to err.
func wrap(ctx context.Context, operation string, err error) error {
	switch {
	case err == nil, errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrFenced),
		errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrTooLarge), errors.Is(err, storage.ErrTooMany):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return storage.ErrNotFound
	}
	return fmt.Errorf("%s in PostgreSQL: %w", operation, contractError(ctx, err))
}

// contractError converts err to the errors of the contract: ctx's own error if ctx has ended,
// [storage.ErrUnavailable], or [storage.ErrDamaged].
func contractError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case unavailable(err):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return damaged(err)
}
