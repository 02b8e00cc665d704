package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const nextFence = `
	INSERT INTO fences AS f (name, number) VALUES ($1, 1)
	ON CONFLICT (name) DO UPDATE SET number = f.number + 1
	RETURNING number`

// NextFence implements [storage.Fences]. It waits for those who write under the
// fence before: see newestFence.
func (s *Store) NextFence(ctx context.Context, name string) (storage.Fence, error) {
	numbers, err := read(ctx, s, "take a fence", pgx.RowTo[int64], nextFence, name)
	if err != nil {
		return storage.Fence{}, err
	}
	return storage.Fence{Name: name, Number: numbers[0]}, nil
}
