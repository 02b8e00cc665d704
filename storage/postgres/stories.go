package postgres

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

var (
	// Items without a story have an empty story ID.
	storyTotals = `
		SELECT count(*), count(DISTINCT event_id), min(least(published, first_seen)), max(least(published, first_seen)),
			coalesce(sum(clicks), 0)
		FROM items WHERE story_id = $1 AND story_id <> ''`
	newestOfStory = selectWithoutHTML + ` WHERE i.story_id = $1 AND i.story_id <> '' ORDER BY i.first_seen DESC, i.id LIMIT $2`
)

// readStory returns the items of one story, or [storage.ErrNotFound].
func (s storyStore) readStory(ctx context.Context, id string, limit int) (story storage.StoryItems, err error) {
	err = s.do(ctx, "read story items", func(ctx context.Context) error {
		story = storage.StoryItems{}
		return pgx.BeginTxFunc(ctx, s.pool, snapshot, func(tx pgx.Tx) error {
			reading := &pgx.Batch{}
			reading.Queue(storyTotals, clean(id)...).QueryRow(func(row pgx.Row) error {
				return row.Scan(&story.Count, &story.Events, nullTime{&story.FirstSeen}, nullTime{&story.LastSeen}, &story.Clicks)
			})
			reading.Queue(newestOfStory, clean(id, max(limit, 0))...).Query(func(rows pgx.Rows) (err error) {
				story.Items, err = pgx.CollectRows(rows, scanWithoutHTML)
				return err
			})
			return tx.SendBatch(ctx, reading).Close()
		})
	})
	switch {
	case err != nil:
		return storage.StoryItems{}, err
	case story.Count == 0:
		return storage.StoryItems{}, storage.ErrNotFound
	}
	return story, nil
}

// ReadStories implements [storage.Stories].
func (s storyStore) ReadStories(ctx context.Context, limit int, ids ...string) (map[string]storage.StoryItems, error) {
	stories := map[string]storage.StoryItems{}
	for _, id := range ids {
		story, err := s.readStory(ctx, id, limit)
		switch {
		case err == nil:
			stories[id] = story
		case !errors.Is(err, storage.ErrNotFound):
			return nil, err
		}
	}
	return stories, nil
}

// snapshot lets several statements read the same snapshot.
var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

var duplicatesOfItem = selectWithoutHTML + `
	WHERE i.duplicate_of = $1 AND i.duplicate_of <> '' ORDER BY i.first_seen, i.id LIMIT $2`

// Duplicates implements [storage.Stories].
func (s storyStore) Duplicates(ctx context.Context, itemID string, limit int) ([]storage.Item, error) {
	return read(ctx, s.engine, "read duplicates", scanWithoutHTML, duplicatesOfItem, itemID, max(limit, 0))
}

const addClicks = `UPDATE items SET clicks = least(clicks::bigint + $2, 2147483647) WHERE id = $1 RETURNING id`

// AddClicks implements [storage.Stories].
func (s storyStore) AddClicks(ctx context.Context, itemID string, n int) error {
	return s.do(ctx, "count clicks", func(ctx context.Context) error {
		_, err := one(ctx, s.pool, pgx.RowTo[string], addClicks, itemID, min(n, math.MaxInt32))
		return err
	})
}
