package sqlite

import (
	"context"

	"feedmesh/storage"
)

const (
	putImport = `
		INSERT OR REPLACE INTO imports (id, name, started, finished, total, done, added, known, invalid, lines, cancel)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, nullif(?10, x''),
			?11 OR EXISTS (SELECT 1 FROM imports WHERE id = ?1 AND started = ?3 AND cancel))`
	cancelImport     = `UPDATE imports SET cancel = 1 WHERE id = ? RETURNING id`
	deleteOldImports = `DELETE FROM imports WHERE id IN (SELECT id FROM imports ORDER BY started DESC, id LIMIT -1 OFFSET ?)`
)

// PutImport implements [storage.Imports].
func (s *Store) PutImport(ctx context.Context, i storage.Import) error {
	return s.transaction(ctx, "put import", func(w *writer) error {
		_, err := w.putImport.ExecContext(ctx, i.ID, i.Name, micros(i.Started), microsOrNull(i.Finished),
			i.Total, i.Done, i.Added, i.Existing, i.Invalid, i.Lines, i.Cancel)
		if err != nil {
			return err
		}
		_, err = w.deleteOldImports.ExecContext(ctx, storage.MaxImports)
		return err
	})
}

// CancelImport implements [storage.Imports].
func (s *Store) CancelImport(ctx context.Context, id string) error {
	return s.transaction(ctx, "cancel import", func(w *writer) error {
		_, err := scanText(w.cancelImport.QueryRowContext(ctx, id))
		return err
	})
}

const (
	importColumns = `id, name, started, finished, total, done, added, known, invalid, cancel`
	importByID    = `SELECT ` + importColumns + `, lines FROM imports WHERE id = ?`
	newestImports = `SELECT ` + importColumns + ` FROM imports ORDER BY started DESC, id LIMIT ?`
)

// Import implements [storage.Imports].
func (s *Store) Import(ctx context.Context, id string) (i storage.Import, err error) {
	err = s.read.importByID.QueryRowContext(ctx, id).Scan(append(importFields(&i), &i.Lines)...)
	return i, s.wrap(ctx, "read import", err)
}

// ListImports implements [storage.Imports].
func (s *Store) ListImports(ctx context.Context, limit int) ([]storage.Import, error) {
	page, err := collect(ctx, s.read.imports, func(row scanner) (i storage.Import, err error) {
		err = row.Scan(importFields(&i)...)
		return i, err
	}, max(limit, 0))
	return page, s.wrap(ctx, "list imports", err)
}

// importFields returns the destinations of importColumns.
func importFields(i *storage.Import) []any {
	return []any{&i.ID, &i.Name, nullTime{&i.Started}, nullTime{&i.Finished},
		&i.Total, &i.Done, &i.Added, &i.Existing, &i.Invalid, &i.Cancel}
}
