package sqlite

import (
	"context"
	"database/sql"
)

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
