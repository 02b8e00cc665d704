package sqlite

import (
	"context"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

const (
	storySums = `
		SELECT count(*), count(DISTINCT event_id), min(first_seen), max(first_seen), sum(clicks) FROM items
		WHERE story_id = ?1 AND ?1 <> '' HAVING count(*) > 0`
	// Which items these are is decided before they are read whole.
	newestOfStory = `
		SELECT ` + bareColumns + `
		FROM (SELECT num FROM items WHERE story_id = ?1 AND ?1 <> '' ORDER BY first_seen DESC, id LIMIT ?2) s
		CROSS JOIN items i ON i.num = s.num CROSS JOIN feeds f ON f.num = i.feed
		ORDER BY i.first_seen DESC, i.id`
	// What is told of items, of stories by JSON list. That the items are chosen apart,
	// by the index alone, bounds how many of each story are read.
	tellingItems = `
		SELECT i.id, f.id, i.event_id, i.story_id, i.lane, i.url, i.title, i.excerpt, i.language, i.first_seen, i.spam,
			i.flags, i.categories, i.topics, i.duplicate_of, i.clicks
		FROM json_each(?1) s
		CROSS JOIN items i ON i.num IN (SELECT num FROM items WHERE story_id = s.value AND story_id <> '' LIMIT ?2)
		CROSS JOIN feeds f ON f.num = i.feed`
	repeatsOfItem = `
		SELECT ` + bareColumns + `
		FROM (SELECT num FROM items WHERE duplicate_of = ? AND duplicate_of <> '' ORDER BY first_seen, id LIMIT ?) r
		CROSS JOIN items i ON i.num = r.num CROSS JOIN feeds f ON f.num = i.feed
		ORDER BY i.first_seen, i.id`
)

// ReadStory implements [storage.Stories].
func (s *Store) ReadStory(ctx context.Context, id string, limit int) (told storage.Told, err error) {
	err = s.read.storySums.QueryRowContext(ctx, id).
		Scan(&told.Count, &told.Events, moment{&told.First}, moment{&told.Last}, &told.Clicks)
	if err == nil {
		told.Items, err = collect(ctx, s.read.newestOfStory, scanItem, id, max(limit, 0))
	}
	if err == nil && limit > 0 && len(told.Items) == 0 { // its last item went in between
		err = storage.ErrNotFound
	}
	if err != nil {
		return storage.Told{}, s.failed(ctx, "read a story", err)
	}
	return told, nil
}

// ReadStories implements [storage.Stories]. It reads the items of all stories at
// once: the pages that one read has found are forgotten by the next if anything was
// written in between.
func (s *Store) ReadStories(ctx context.Context, limit int, ids ...string) (map[string]storage.Told, error) {
	limit = max(limit, 0)
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	found, err := collect(ctx, s.read.tellingItems, scanTelling, asJSON(ids), limit+1)
	if err != nil {
		return nil, s.failed(ctx, "read stories", err)
	}
	items := map[string][]storage.Item{} // by story ID
	for _, item := range found {
		items[item.StoryID] = append(items[item.StoryID], item)
	}
	stories := make(map[string]storage.Told, len(items))
	var large []string // these have more, not all of which are wanted
	for id, of := range items {
		if len(of) > limit {
			large = append(large, id)
		} else {
			stories[id] = storage.ToldOf(of)
		}
	}
	others, err := storage.ReadEach(ctx, s, limit, large)
	maps.Copy(stories, others)
	return stories, err
}

func scanTelling(row scanner) (i storage.Item, err error) {
	err = row.Scan(&i.ID, &i.FeedID, &i.EventID, &i.StoryID, &i.Lane, &i.URL, &i.Title, &i.Excerpt, &i.Language, moment{&i.FirstSeen},
		&i.Spam, fromJSON(&i.Flags), fromJSON(&i.Categories), fromJSON(&i.Topics), &i.DuplicateOf, &i.Clicks)
	return i, err
}

// Repeats implements [storage.Stories].
func (s *Store) Repeats(ctx context.Context, itemID string, limit int) ([]storage.Item, error) {
	items, err := collect(ctx, s.read.repeats, scanItem, itemID, max(limit, 0))
	return items, s.failed(ctx, "read what repeats an item", err)
}

const click = `UPDATE items SET clicks = clicks + ?2 WHERE id = ?1 RETURNING id`

// Click implements [storage.Stories].
func (s *Store) Click(ctx context.Context, itemID string, n int) error {
	return s.changeTogether(ctx, "count clicks", func(w *writer) error {
		if _, err := scanText(w.click.QueryRowContext(ctx, itemID, n)); err != nil {
			return err
		}
		return w.mark(ctx, itemID)
	})
}

// lanes lists the lanes, one look at an index for each: there is no index of items
// of all lanes by time, as every item put would pay for it.
const lanes = `
	WITH RECURSIVE lanes (lane) AS (
		SELECT min(lane) FROM items
		UNION ALL SELECT (SELECT min(lane) FROM items WHERE lane > l.lane) FROM lanes l WHERE l.lane IS NOT NULL
	)`

const (
	sightings = lanes + `
		SELECT i.id, i.first_seen, i.story_id, i.categories, i.topics
		FROM lanes l CROSS JOIN items i ON i.num IN (
			SELECT num FROM items
			WHERE lane = l.lane AND (first_seen, id) > (?1, ?2) AND first_seen < ?3 AND NOT spam
			ORDER BY first_seen, id LIMIT ?4
		)
		ORDER BY i.first_seen, i.id LIMIT ?4`
	// All items are counted by an index alone. Only those of told stories are read that
	// had some since then; what is told is less than a day behind.
	reachOfFeeds = `
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

const liveEvents = `
	SELECT event_id FROM items WHERE lane = ? AND first_seen >= ?
	GROUP BY event_id ORDER BY max(first_seen) DESC, event_id LIMIT ?`

// LiveEvents implements [storage.Stories].
func (s *Store) LiveEvents(ctx context.Context, lane string, since time.Time, limit int) ([]string, error) {
	scan := func(row scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}
	ids, err := collect(ctx, s.read.liveEvents, scan, lane, micros(since), max(limit, 0))
	return ids, s.failed(ctx, "read which events live", err)
}

const itemsOfEvents = selectItems + `
	WHERE i.lane = ? AND (i.first_seen, i.id) > (?, ?) AND i.first_seen < ? AND i.event_id IN (SELECT value FROM json_each(?))
	ORDER BY i.first_seen, i.id LIMIT ?`

// EventItems implements [storage.Stories].
func (s *Store) EventItems(ctx context.Context, lane string, events []string, from, until time.Time, after storage.Item, limit int) ([]storage.Item, error) {
	begin, id := micros(from), ""
	if at := micros(after.FirstSeen); at >= begin {
		begin, id = at, after.ID
	}
	items, err := collect(ctx, s.read.itemsOfEvents, scanItem, lane, begin, id, micros(until), asJSON(events), max(limit, 0))
	return items, s.failed(ctx, "read items of events", err)
}

// Sightings implements [storage.Stories].
func (s *Store) Sightings(ctx context.Context, from, until time.Time, after storage.Sighting, limit int) ([]storage.Sighting, error) {
	begin, id := micros(from), ""
	if at := micros(after.Seen); at >= begin {
		begin, id = at, after.ItemID
	}
	page, err := collect(ctx, s.read.sightings, func(row scanner) (seen storage.Sighting, err error) {
		err = row.Scan(&seen.ItemID, moment{&seen.Seen}, &seen.StoryID, fromJSON(&seen.Categories), fromJSON(&seen.Topics))
		return seen, err
	}, begin, id, micros(until), max(limit, 0))
	return page, s.failed(ctx, "read sightings", err)
}

// Reach implements [storage.Stories].
func (s *Store) Reach(ctx context.Context, since time.Time, sources int) (map[string]storage.Reach, error) {
	reach := map[string]storage.Reach{}
	_, err := collect(ctx, s.read.reach, func(row scanner) (id string, err error) {
		var of storage.Reach
		err = row.Scan(&id, &of.Items, &of.Reached)
		reach[id] = of
		return id, err
	}, micros(since), sources)
	if err != nil {
		return nil, s.failed(ctx, "read reach", err)
	}
	return reach, nil
}
