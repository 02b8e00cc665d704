package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"feedmesh/storage"
)

const newestFence = `SELECT number FROM fences WHERE name = ?`

// checkFence returns [storage.ErrFenced] if a newer fence was issued.
func checkFence(ctx context.Context, w *writer, fence storage.Fence) error {
	if fence == (storage.Fence{}) {
		return nil
	}
	var newest int64
	err := w.row(ctx, newestFence, fence.Name).Scan(&newest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if fence.Number < newest {
		return storage.ErrFenced
	}
	return nil
}

const nextFence = `
	INSERT INTO fences (name, number) VALUES (?, 1)
	ON CONFLICT (name) DO UPDATE SET number = number + 1
	RETURNING number`

// NextFence implements [storage.Fences].
func (s fenceStore) NextFence(ctx context.Context, name string) (storage.Fence, error) {
	return inTransaction(ctx, s.engine, "issue a fence", func(w *writer) (storage.Fence, error) {
		fence := storage.Fence{Name: name}
		err := w.row(ctx, nextFence, name).Scan(&fence.Number)
		return fence, err
	})
}
