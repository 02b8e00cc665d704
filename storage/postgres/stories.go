package postgres

import (
	"context"
	"errors"
	"math"
	"time"

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
				story.Items, err = pgx.CollectRows(rows, scanItems(false))
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
	return read(ctx, s.engine, "read duplicates", scanItems(false), duplicatesOfItem, itemID, max(limit, 0))
}

const addClicks = `UPDATE items SET clicks = least(clicks::bigint + $2, 2147483647) WHERE id = $1 RETURNING id`

// AddClicks implements [storage.Stories].
func (s storyStore) AddClicks(ctx context.Context, itemID string, n int) error {
	return s.do(ctx, "count clicks", func(ctx context.Context) error {
		_, err := one(ctx, s.pool, pgx.RowTo[string], addClicks, itemID, min(n, math.MaxInt32))
		return err
	})
}

// Items are indexed by time only within each partition. The recursive query finds each of the few partitions
// with one index lookup.
const sightings = `
	WITH RECURSIVE lanes AS (
		SELECT min(lane) AS lane FROM items
		UNION ALL
		SELECT (SELECT min(lane) FROM items WHERE lane > before.lane) FROM lanes AS before WHERE before.lane IS NOT NULL
	)
	SELECT id, first_seen, coalesce(published < (SELECT added FROM feeds WHERE num = feed), false), story_id, categories, topics FROM lanes, LATERAL (
		SELECT id, first_seen, published, feed, story_id, categories, topics FROM items
		WHERE items.lane = lanes.lane AND (first_seen, id) > ($1, $2) AND first_seen < $3 AND NOT spam
		ORDER BY first_seen, id LIMIT $4
	) AS seen
	ORDER BY first_seen, id LIMIT $4`

// Sightings implements [storage.Stories].
func (s storyStore) Sightings(ctx context.Context, from, until time.Time, after storage.Sighting, limit int) ([]storage.Sighting, error) {
	begin, id := micro(from), ""
	if at := micro(after.Seen); !at.Before(begin) {
		begin, id = at, after.ItemID
	}
	return read(ctx, s.engine, "read sightings", func(row pgx.CollectableRow) (seen storage.Sighting, err error) {
		err = row.Scan(&seen.ItemID, nullTime{&seen.Seen}, &seen.Archived, &seen.StoryID, &seen.Categories, &seen.Topics)
		return seen, err
	}, sightings, begin, id, until, max(limit, 0))
}

const recentEvents = `
	SELECT event_id FROM items WHERE lane = $1 AND first_seen >= $2 AND published >= $2
	GROUP BY event_id ORDER BY max(first_seen) DESC, event_id LIMIT $3`

// RecentEvents implements [storage.Stories].
func (s storyStore) RecentEvents(ctx context.Context, partition string, since time.Time, limit int) ([]string, error) {
	return read(ctx, s.engine, "read recent events", pgx.RowTo[string], recentEvents, partition, micro(since), max(limit, 0))
}

const (
	firstAndLastDay   = `SELECT min(day), max(day) FROM items`
	feedCoverageOfDay = `
		SELECT f.id, n.items, n.reached FROM (
			SELECT feed, count(*) AS items, count(s.id) AS reached
			FROM items i LEFT JOIN stories s ON s.id = i.story_id AND s.sources >= $3
			WHERE i.day = $1 AND i.first_seen >= $2 GROUP BY feed
		) n JOIN feeds f ON f.num = n.feed`
)

// FeedCoverage implements [storage.Stories]. It runs one statement per day, because the items of a month may
// exceed the statement timeout.
func (s storyStore) FeedCoverage(ctx context.Context, since time.Time, sources int) (map[string]storage.FeedCoverage, error) {
	coverage := map[string]storage.FeedCoverage{}
	var first, last *time.Time
	err := s.do(ctx, "read first and last day", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, firstAndLastDay).Scan(&first, &last)
	})
	if err != nil || first == nil {
		return coverage, err
	}
	day := storage.Day(since)
	if day.Before(*first) {
		day = *first
	}
	for ; !day.After(*last); day = day.AddDate(0, 0, 1) {
		if err := s.addFeedCoverage(ctx, day, since, sources, coverage); err != nil {
			return nil, err
		}
	}
	return coverage, nil
}

// addFeedCoverage adds the counts of one day's items first seen at or after since.
func (s storyStore) addFeedCoverage(ctx context.Context, day, since time.Time, sources int, coverage map[string]storage.FeedCoverage) error {
	type row struct {
		FeedID         string
		Items, Reached int
	}
	rows, err := read(ctx, s.engine, "count a day's items by feed", pgx.RowToStructByPos[row], feedCoverageOfDay, day, since, sources)
	for _, r := range rows {
		all := coverage[r.FeedID]
		coverage[r.FeedID] = storage.FeedCoverage{Items: all.Items + r.Items, Covered: all.Covered + r.Reached}
	}
	return err
}
