package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	noteByName = `SELECT note FROM notes WHERE name = $1`
	putNote    = `INSERT INTO notes (name, note) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET note = excluded.note`
)

// Note implements [storage.Notes].
func (s *Store) Note(ctx context.Context, name string) (note []byte, err error) {
	err = s.do(ctx, "read note", func(ctx context.Context) (err error) {
		note, err = one(ctx, s.pool, pgx.RowTo[[]byte], noteByName, name)
		return err
	})
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return note, err
}

// PutNote implements [storage.Notes].
func (s *Store) PutNote(ctx context.Context, fence storage.Fence, name string, note []byte) error {
	return s.transaction(ctx, "put note", func(ctx context.Context, tx pgx.Tx) error {
		if err := lockFenceShared(ctx, tx, fence); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, putNote, clean(name, note)...)
		return err
	})
}
