package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	putImport = `
		INSERT INTO imports (id, name, started, finished, total, done, added, known, invalid, lines, cancel)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (id) DO UPDATE SET
			name = excluded.name, started = excluded.started, finished = excluded.finished, total = excluded.total,
			done = excluded.done, added = excluded.added, known = excluded.known, invalid = excluded.invalid, lines = excluded.lines,
			cancel = excluded.cancel OR imports.cancel AND imports.started = excluded.started`
	deleteOldImports = `DELETE FROM imports WHERE id IN (SELECT id FROM imports ORDER BY started DESC, id OFFSET $1)`
)

// PutImport implements [storage.Imports].
func (s *Store) PutImport(ctx context.Context, i storage.Import) error {
	return s.transaction(ctx, "put import", func(ctx context.Context, tx pgx.Tx) error {
		statements := &pgx.Batch{}
		statements.Queue(putImport, clean(i.ID, i.Name, i.Started, timeOrNull(i.Finished),
			i.Total, i.Done, i.Added, i.Existing, i.Invalid, i.Lines, i.Cancel)...)
		statements.Queue(deleteOldImports, storage.MaxImports)
		return tx.SendBatch(ctx, statements).Close()
	})
}

// CancelImport implements [storage.Imports].
func (s *Store) CancelImport(ctx context.Context, id string) error {
	return s.do(ctx, "cancel import", func(ctx context.Context) error {
		_, err := one(ctx, s.pool, pgx.RowTo[string], `UPDATE imports SET cancel = true WHERE id = $1 RETURNING id`, id)
		return err
	})
}

const (
	importColumns = `id, name, started, finished, total, done, added, known, invalid, cancel`
	importByID    = `SELECT ` + importColumns + `, lines FROM imports WHERE id = $1`
	newestImports = `SELECT ` + importColumns + ` FROM imports ORDER BY started DESC, id LIMIT $1`
)

// Import implements [storage.Imports].
func (s *Store) Import(ctx context.Context, id string) (i storage.Import, err error) {
	err = s.do(ctx, "read import", func(ctx context.Context) (err error) {
		i, err = one(ctx, s.pool, func(row pgx.CollectableRow) (i storage.Import, err error) {
			err = row.Scan(append(importFields(&i), &i.Lines)...)
			return i, err
		}, importByID, id)
		return err
	})
	return i, err
}

// ListImports implements [storage.Imports].
func (s *Store) ListImports(ctx context.Context, limit int) ([]storage.Import, error) {
	return read(ctx, s, "list imports", func(row pgx.CollectableRow) (i storage.Import, err error) {
		err = row.Scan(importFields(&i)...)
		return i, err
	}, newestImports, max(limit, 0))
}

// importFields returns the destinations of importColumns.
func importFields(i *storage.Import) []any {
	return []any{&i.ID, &i.Name, nullTime{&i.Started}, nullTime{&i.Finished},
		&i.Total, &i.Done, &i.Added, &i.Existing, &i.Invalid, &i.Cancel}
}
