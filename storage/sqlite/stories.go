package sqlite

import (
	"context"
	"errors"
	"slices"
	"time"

	"feedmesh/storage"
)

var (
	storyTotals = `
		SELECT count(*), count(DISTINCT event_id), min(min(published, first_seen)), max(min(published, first_seen)), sum(clicks)
		FROM items
		WHERE story_id = ?1 AND ?1 <> '' HAVING count(*) > 0`
	// The subquery selects the items by index, before whole rows are read.
	newestOfStory = `
		SELECT ` + columnsWithoutHTML + `
		FROM (SELECT num FROM items WHERE story_id = ?1 AND ?1 <> '' ORDER BY first_seen DESC, id LIMIT ?2) s
		CROSS JOIN items i ON i.num = s.num CROSS JOIN feeds f ON f.num = i.feed
		ORDER BY i.first_seen DESC, i.id`
	// For a JSON list of stories, in its order. The subquery selects items by the index alone, which bounds the
	// items read per story.
	itemsOfStories = `
		SELECT ` + columnsWithoutHTML + `
		FROM json_each(?1) s
		CROSS JOIN items i ON i.num IN (SELECT num FROM items WHERE story_id = s.value AND story_id <> '' LIMIT ?2)
		CROSS JOIN feeds f ON f.num = i.feed`
	duplicatesOfItem = `
		SELECT ` + columnsWithoutHTML + `
		FROM (SELECT num FROM items WHERE duplicate_of = ? AND duplicate_of <> '' ORDER BY first_seen, id LIMIT ?) r
		CROSS JOIN items i ON i.num = r.num CROSS JOIN feeds f ON f.num = i.feed
		ORDER BY i.first_seen, i.id`
)

// readStory returns the items of one story, or [storage.ErrNotFound].
func (s storyStore) readStory(ctx context.Context, id string, limit int) (story storage.StoryItems, err error) {
	err = s.read.row(ctx, storyTotals, id).
		Scan(&story.Count, &story.Events, nullTime{&story.FirstSeen}, nullTime{&story.LastSeen}, &story.Clicks)
	if err == nil {
		story.Items, err = collect(ctx, s.read, newestOfStory, scanItems(false), id, max(limit, 0))
	}
	if err == nil && limit > 0 && len(story.Items) == 0 { // the last item was deleted between the two statements
		err = storage.ErrNotFound
	}
	if err != nil {
		return storage.StoryItems{}, s.wrap(ctx, "read story items", err)
	}
	return story, nil
}

// ReadStories implements [storage.Stories]. One statement reads the items of all stories, because SQLite
// drops the page cache of a connection after every write by another.
func (s storyStore) ReadStories(ctx context.Context, limit int, ids ...string) (map[string]storage.StoryItems, error) {
	limit = max(limit, 0)
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found, err := collect(ctx, s.read, itemsOfStories, scanItems(false), asJSON(ids), limit+1)
	if err != nil {
		return nil, s.wrap(ctx, "read stories", err)
	}
	stories := make(map[string]storage.StoryItems, len(ids))
	var large []string // stories with more than limit items
	for len(found) > 0 {
		id, n := found[0].StoryID, 1
		for n < len(found) && found[n].StoryID == id {
			n++
		}
		if n > limit {
			large = append(large, id)
		} else {
			stories[id] = storage.NewStoryItems(found[:n:n])
		}
		found = found[n:]
	}
	for _, id := range large {
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

// Duplicates implements [storage.Stories].
func (s storyStore) Duplicates(ctx context.Context, itemID string, limit int) ([]storage.Item, error) {
	return read(ctx, s.engine, "read duplicates", duplicatesOfItem, scanItems(false), itemID, max(limit, 0))
}

const addClicks = `UPDATE items SET clicks = clicks + ?2 WHERE id = ?1 RETURNING id`

// AddClicks implements [storage.Stories].
func (s storyStore) AddClicks(ctx context.Context, itemID string, n int) error {
	return s.batchedTransaction(ctx, "count clicks", func(w *writer) error {
		if _, err := scanText(w.row(ctx, addClicks, itemID, n)); err != nil {
			return err
		}
		return markStoryOfItemDirty(ctx, w, itemID)
	})
}

// partitions lists the partitions with one index lookup each. An index of all items by time would make every
// insert more expensive.
const partitions = `
	WITH RECURSIVE lanes (lane) AS (
		SELECT min(lane) FROM items
		UNION ALL SELECT (SELECT min(lane) FROM items WHERE lane > l.lane) FROM lanes l WHERE l.lane IS NOT NULL
	)`

const (
	sightings = partitions + `
		SELECT i.id, i.first_seen, coalesce(i.published < (SELECT added FROM feeds WHERE num = i.feed), false), i.story_id, i.categories, i.topics
		FROM lanes l CROSS JOIN items i ON i.num IN (
			SELECT num FROM items
			WHERE lane = l.lane AND (first_seen, id) > (?1, ?2) AND first_seen < ?3 AND NOT spam
			ORDER BY first_seen, id LIMIT ?4
		)
		ORDER BY i.first_seen, i.id LIMIT ?4`
	// An index alone counts all items. Whole items are read only for summarized stories with recent items;
	// summaries are less than a day old.
	feedCoverage = `
		WITH reached AS MATERIALIZED (
			SELECT i.feed, count(*) AS items
			FROM stories s CROSS JOIN items i ON i.story_id = s.id
			WHERE s.sources >= ?2 AND s.last_seen >= ?1 - ` + oneDay + ` AND i.first_seen >= ?1 GROUP BY i.feed
		)
		SELECT f.id, n.items, coalesce(r.items, 0)
		FROM (
			SELECT feed, count(*) AS items FROM items INDEXED BY items_by_arrival WHERE first_seen >= ?1 GROUP BY feed
		) n CROSS JOIN feeds f ON f.num = n.feed LEFT JOIN reached r ON r.feed = n.feed`
)

const recentEvents = `
	SELECT event_id FROM items WHERE lane = ?1 AND first_seen >= ?2 AND published >= ?2
	GROUP BY event_id ORDER BY max(first_seen) DESC, event_id LIMIT ?3`

// RecentEvents implements [storage.Stories].
func (s storyStore) RecentEvents(ctx context.Context, partition string, since time.Time, limit int) ([]string, error) {
	return read(ctx, s.engine, "read recent events", recentEvents, scanText, partition, micros(since), max(limit, 0))
}

// Sightings implements [storage.Stories].
func (s storyStore) Sightings(ctx context.Context, from, until time.Time, after storage.Sighting, limit int) ([]storage.Sighting, error) {
	begin, id := micros(from), ""
	if at := micros(after.Seen); at >= begin {
		begin, id = at, after.ItemID
	}
	return read(ctx, s.engine, "read sightings", sightings, func(row scanner) (seen storage.Sighting, err error) {
		err = row.Scan(&seen.ItemID, nullTime{&seen.Seen}, &seen.Archived, &seen.StoryID, fromJSON(&seen.Categories), fromJSON(&seen.Topics))
		return seen, err
	}, begin, id, micros(until), max(limit, 0))
}

// FeedCoverage implements [storage.Stories].
func (s storyStore) FeedCoverage(ctx context.Context, since time.Time, sources int) (map[string]storage.FeedCoverage, error) {
	return readMap(ctx, s.engine, "count feed coverage", feedCoverage, func(row scanner, id *string, c *storage.FeedCoverage) error {
		return row.Scan(id, &c.Items, &c.Covered)
	}, micros(since), sources)
}
