package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// statements are the prepared statements of a connection or a pool, by their text. Each is prepared when it is
// first used. Texts are constants, so their number is bounded.
type statements struct {
	on interface {
		PrepareContext(context.Context, string) (*sql.Stmt, error)
	}
	mu     sync.RWMutex
	byText map[string]*sql.Stmt
}

// prepared returns the prepared statement.
func (s *statements) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt := s.byText[text]
	s.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", text, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.byText[text]; other != nil { // prepared by a concurrent call
		return other, stmt.Close()
	}
	if s.byText == nil {
		s.byText = map[string]*sql.Stmt{}
	}
	s.byText[text] = stmt
	return stmt, nil
}

// exec executes a statement without result rows.
func (s *statements) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	stmt, err := s.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// row executes a statement with one result row.
func (s *statements) row(ctx context.Context, text string, args ...any) scanner {
	stmt, err := s.prepared(ctx, text)
	if err != nil {
		return failedRow{err}
	}
	return stmt.QueryRowContext(ctx, args...)
}

// rows executes a statement with result rows.
func (s *statements) rows(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// close closes the statements, which [sql.Conn] leaves open.
func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.byText {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

// A failedRow is the row of a statement that cannot be prepared.
type failedRow struct{ err error }

// Scan returns the error.
func (r failedRow) Scan(...any) error { return r.err }

// A writer is the only writing connection.
type writer struct {
	conn *sql.Conn
	statements
}

func newWriter(conn *sql.Conn) *writer {
	return &writer{conn: conn, statements: statements{on: conn}}
}

// close closes the connection and its statements.
func (w *writer) close() error { return errors.Join(w.statements.close(), w.conn.Close()) }

// A scanner is an [sql.Row], or the current row of [sql.Rows].
type scanner interface{ Scan(...any) error }

func scanText(row scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

func scanBool(row scanner) (is bool, err error) {
	err = row.Scan(&is)
	return is, err
}

// changes reports whether a statement changed any row.
func changes(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// A rowser is a writer or the statements of the readers.
type rowser interface {
	rows(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// collect reads all rows before it returns. An open read would prevent truncating the log.
func collect[T any](ctx context.Context, on rowser, text string, scan func(scanner) (T, error), args ...any) ([]T, error) {
	rows, err := on.rows(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// read is [collect] by the readers; it adds the operation to the error.
func read[T any](ctx context.Context, e *engine, operation, text string, scan func(scanner) (T, error), args ...any) ([]T, error) {
	all, err := collect(ctx, e.read, text, scan, args...)
	return all, e.wrap(ctx, operation, err)
}

// readOnce is [read] for a statement that is prepared for one call.
func readOnce[T any](ctx context.Context, e *engine, operation, text string, scan func(scanner) (T, error), args ...any) ([]T, error) {
	once := &statements{on: e.readers}
	defer once.close()
	all, err := collect(ctx, once, text, scan, args...)
	return all, e.wrap(ctx, operation, err)
}

// readMap is [read] for a result whose rows are the entries of a map.
func readMap[K comparable, V any](ctx context.Context, e *engine, operation, text string, scan func(scanner, *K, *V) error, args ...any) (map[K]V, error) {
	all := map[K]V{}
	_, err := read(ctx, e, operation, text, func(row scanner) (key K, err error) {
		var value V
		err = scan(row, &key, &value)
		all[key] = value
		return key, err
	}, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}
