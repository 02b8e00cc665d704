package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"feedmesh/storage"
)

const (
	noteByName = `SELECT note FROM notes WHERE name = ?`
	putNote    = `INSERT OR REPLACE INTO notes (name, note) VALUES (?, nullif(?, x''))`
)

// Note implements [storage.Notes].
func (s *Store) Note(ctx context.Context, name string) (note []byte, err error) {
	err = s.read.note.QueryRowContext(ctx, name).Scan(&note)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return note, s.wrap(ctx, "read note", err)
}

// PutNote implements [storage.Notes].
func (s *Store) PutNote(ctx context.Context, fence storage.Fence, name string, note []byte) error {
	return s.transaction(ctx, "put note", func(w *writer) error {
		if err := w.checkFence(ctx, fence); err != nil {
			return err
		}
		_, err := w.putNote.ExecContext(ctx, name, note)
		return err
	})
}
