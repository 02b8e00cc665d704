package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	// Items that belong to no story have the empty ID.
	sumOfStory = `
		SELECT count(*), count(DISTINCT event_id), min(first_seen), max(first_seen), coalesce(sum(clicks), 0)
		FROM items WHERE story_id = $1 AND story_id <> ''`
	newestOfStory = selectLean + ` WHERE i.story_id = $1 AND i.story_id <> '' ORDER BY i.first_seen DESC, i.id LIMIT $2`
)

// ReadStory implements [storage.Stories].
func (s *Store) ReadStory(ctx context.Context, id string, limit int) (told storage.Told, err error) {
	err = s.do(ctx, "read what a story is made of", func(ctx context.Context) error {
		told = storage.Told{}
		return pgx.BeginTxFunc(ctx, s.pool, oneMoment, func(tx pgx.Tx) error {
			reading := &pgx.Batch{}
			reading.Queue(sumOfStory, clean(id)...).QueryRow(func(row pgx.Row) error {
				return row.Scan(&told.Count, &told.Events, moment{&told.First}, moment{&told.Last}, &told.Clicks)
			})
			reading.Queue(newestOfStory, clean(id, max(limit, 0))...).Query(func(rows pgx.Rows) (err error) {
				told.Items, err = pgx.CollectRows(rows, scanLean)
				return err
			})
			return tx.SendBatch(ctx, reading).Close()
		})
	})
	switch {
	case err != nil:
		return storage.Told{}, err
	case told.Count == 0:
		return storage.Told{}, storage.ErrNotFound
	}
	return told, nil
}

// ReadStories implements [storage.Stories].
func (s *Store) ReadStories(ctx context.Context, limit int, ids ...string) (map[string]storage.Told, error) {
	return storage.ReadEach(ctx, s, limit, ids)
}

// oneMoment is for several statements that are to read the same.
var oneMoment = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

const repeatsOfItem = selectLean + `
	WHERE i.duplicate_of = $1 AND i.duplicate_of <> '' ORDER BY i.first_seen, i.id LIMIT $2`

// Repeats implements [storage.Stories].
func (s *Store) Repeats(ctx context.Context, itemID string, limit int) ([]storage.Item, error) {
	return read(ctx, s, "read what repeats an item", scanLean, repeatsOfItem, itemID, max(limit, 0))
}

const clickItem = `UPDATE items SET clicks = least(clicks::bigint + $2, 2147483647) WHERE id = $1 RETURNING id`

// Click implements [storage.Stories].
func (s *Store) Click(ctx context.Context, itemID string, n int) error {
	return s.do(ctx, "count clicks", func(ctx context.Context) error {
		_, err := one(ctx, s.pool, pgx.RowTo[string], clickItem, itemID, min(n, math.MaxInt32))
		return err
	})
}
