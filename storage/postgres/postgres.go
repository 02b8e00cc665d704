// Package postgres keeps feeds and items in a PostgreSQL database: the store
// that the agents of a mesh share.
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

// Store is a [storage.Store] in a PostgreSQL database. After the server has been
// away it goes on by itself.
type Store struct {
	pool *pgxpool.Pool
}

// Open opens the store in the database at url, for a user who may make tables
// there, and needs no other right. It brings an older schema up to date; others
// may do the same at the same time. The error for a user says what to do; it is
// [storage.ErrUnavailable] where waiting may do. It never has the password.
//
// The url may set what PostgreSQL and pgx know, such as pool_max_conns. One that
// names several servers should say target_session_attrs=read-write, so that the
// one in charge is found after it has changed.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := poolConfig(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	s := &Store{pool}
	if err := s.prepare(ctx, func(conn *pgx.Conn) error { return setUp(ctx, conn, schema) }); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Check returns nil if there is a server at url that [Open] could use, else
// Open's error. It changes nothing.
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
	return (&Store{pool}).prepare(ctx, func(*pgx.Conn) error { return nil })
}

// prepare checks the server, calls then, and puts an error in words for the user.
func (s *Store) prepare(ctx context.Context, then func(*pgx.Conn) error) error {
	err := s.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		if err := checkServer(conn.Conn().PgConn()); err != nil {
			return err
		}
		return then(conn.Conn())
	})
	if err = inWords(ctx, err); err != nil {
		c := s.pool.Config().ConnConfig
		return fmt.Errorf("open database %q at %s:%d as %q: %w", c.Database, c.Host, c.Port, c.User, explain(err, c))
	}
	return nil
}

// ID implements [storage.Store].
func (s *Store) ID(ctx context.Context) (id string, err error) {
	err = s.do(ctx, "read the ID", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT id FROM store`).Scan(&id)
	})
	return id, err
}

// Ping implements [storage.Store].
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.ID(ctx)
	return err
}

// Close implements [storage.Store]. It waits for the calls in hand.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// patience is how long a call may take, even to a server that has fallen silent.
const patience = time.Minute

// tries is how often work is done that others get in the way of.
const tries = 5

// do runs work, again if others got in its way, and puts its error in words. The
// context that work gets ends after patience at the latest.
func (s *Store) do(ctx context.Context, doing string, work func(context.Context) error) error {
	return s.doWithin(ctx, patience, doing, work)
}

// doWithin is do with another patience.
func (s *Store) doWithin(ctx context.Context, patience time.Duration, doing string, work func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := work(limited)
	for try := 1; try < tries && conflicts(err); try++ {
		time.Sleep(rand.N(20 * time.Millisecond << try))
		err = work(limited)
	}
	if readOnly(err) {
		s.pool.Reset() // another server may be in charge by now
	}
	return failed(ctx, doing, err)
}

// change runs work in a transaction, perhaps more than once. If the connection
// is lost during the commit, nobody knows whether it has happened: doing it again
// must be harmless.
func (s *Store) change(ctx context.Context, doing string, work func(context.Context, pgx.Tx) error) error {
	return s.changeWithin(ctx, patience, doing, work)
}

// changeWithin is change with another patience.
func (s *Store) changeWithin(ctx context.Context, patience time.Duration, doing string, work func(context.Context, pgx.Tx) error) error {
	return s.doWithin(ctx, patience, doing, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return work(ctx, tx) })
	})
}

// A querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// collect returns what a statement does, row by row.
func collect[T any](ctx context.Context, on querier, scan pgx.RowToFunc[T], statement string, args ...any) ([]T, error) {
	rows, err := on.Query(ctx, statement, clean(args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// one is [collect] for one row; none is [pgx.ErrNoRows].
func one[T any](ctx context.Context, on querier, scan pgx.RowToFunc[T], statement string, args ...any) (T, error) {
	rows, err := on.Query(ctx, statement, clean(args...)...)
	if err != nil {
		var none T
		return none, err
	}
	return pgx.CollectOneRow(rows, scan)
}

// read is [collect] outside of a transaction.
func read[T any](ctx context.Context, s *Store, doing string, scan pgx.RowToFunc[T], statement string, args ...any) (all []T, err error) {
	err = s.do(ctx, doing, func(ctx context.Context) (err error) {
		all, err = collect(ctx, s.pool, scan, statement, args...)
		return err
	})
	return all, err
}

// failed says what was being done when err happened.
func failed(ctx context.Context, doing string, err error) error {
	switch {
	case err == nil, errors.Is(err, storage.ErrNotFound), errors.Is(err, storage.ErrFenced),
		errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrTooLarge), errors.Is(err, storage.ErrTooMany):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return storage.ErrNotFound
	}
	return fmt.Errorf("%s in PostgreSQL: %w", doing, inWords(ctx, err))
}

// inWords makes err what the contract says: ctx's own error if it has ended, and
// [storage.ErrUnavailable] if it is that.
func inWords(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case unavailable(err):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return err
}
