package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// There is an order of time within each lane only; there are few of them. Each is
// looked for from the one before it on.
const sightings = `
	WITH RECURSIVE lanes AS (
		SELECT min(lane) AS lane FROM items
		UNION ALL
		SELECT (SELECT min(lane) FROM items WHERE lane > before.lane) FROM lanes AS before WHERE before.lane IS NOT NULL
	)
	SELECT seen.* FROM lanes, LATERAL (
		SELECT id, first_seen, story_id, categories, topics FROM items
		WHERE items.lane = lanes.lane AND (first_seen, id) > ($1, $2) AND first_seen < $3 AND NOT spam
		ORDER BY first_seen, id LIMIT $4
	) AS seen
	ORDER BY first_seen, id LIMIT $4`

// Sightings implements [storage.Stories].
func (s *Store) Sightings(ctx context.Context, from, until time.Time, after storage.Sighting, limit int) ([]storage.Sighting, error) {
	begin, id := micro(from), ""
	if at := micro(after.Seen); !at.Before(begin) {
		begin, id = at, after.ItemID
	}
	return read(ctx, s, "read when items were seen", func(row pgx.CollectableRow) (seen storage.Sighting, err error) {
		err = row.Scan(&seen.ItemID, moment{&seen.Seen}, &seen.StoryID, &seen.Categories, &seen.Topics)
		return seen, err
	}, sightings, begin, id, until, max(limit, 0))
}

const liveEvents = `
	SELECT event_id FROM items WHERE lane = $1 AND first_seen >= $2
	GROUP BY event_id ORDER BY max(first_seen) DESC, event_id LIMIT $3`

// LiveEvents implements [storage.Stories].
func (s *Store) LiveEvents(ctx context.Context, lane string, since time.Time, limit int) ([]string, error) {
	return read(ctx, s, "read which events live", pgx.RowTo[string], liveEvents, lane, micro(since), max(limit, 0))
}

const itemsOfEvents = selectItems + `
	WHERE i.lane = $1 AND (i.first_seen, i.id) > ($2, $3) AND i.first_seen < $4 AND i.event_id = ANY($5)
	ORDER BY i.first_seen, i.id LIMIT $6`

// EventItems implements [storage.Stories].
func (s *Store) EventItems(ctx context.Context, lane string, events []string, from, until time.Time, after storage.Item, limit int) ([]storage.Item, error) {
	begin, id := micro(from), ""
	if at := micro(after.FirstSeen); !at.Before(begin) {
		begin, id = at, after.ID
	}
	return read(ctx, s, "read items of events", scanItem, itemsOfEvents, lane, begin, id, micro(until), events, max(limit, 0))
}

const (
	firstAndLastDay = `SELECT min(day), max(day) FROM items`
	reachOfDay      = `
		SELECT f.id, n.items, n.reached FROM (
			SELECT feed, count(*) AS items, count(s.id) AS reached
			FROM items i LEFT JOIN stories s ON s.id = i.story_id AND s.sources >= $3
			WHERE i.day = $1 AND i.first_seen >= $2 GROUP BY feed
		) n JOIN feeds f ON f.num = n.feed`
)

// Reach implements [storage.Stories]. It asks day by day: of a month there may be
// more items than one statement has time for.
func (s *Store) Reach(ctx context.Context, since time.Time, sources int) (map[string]storage.Reach, error) {
	reach := map[string]storage.Reach{}
	var first, last *time.Time
	err := s.do(ctx, "look for days", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, firstAndLastDay).Scan(&first, &last)
	})
	if err != nil || first == nil {
		return reach, err
	}
	day := storage.Day(since)
	if day.Before(*first) {
		day = *first
	}
	for ; !day.After(*last); day = day.AddDate(0, 0, 1) {
		if err := s.reachOf(ctx, day, since, sources, reach); err != nil {
			return nil, err
		}
	}
	return reach, nil
}

// reachOf adds a day's items that were seen since then.
func (s *Store) reachOf(ctx context.Context, day, since time.Time, sources int, reach map[string]storage.Reach) error {
	type row struct {
		FeedID         string
		Items, Reached int
	}
	rows, err := read(ctx, s, "count a day's items by feed", pgx.RowToStructByPos[row], reachOfDay, day, since, sources)
	for _, r := range rows {
		all := reach[r.FeedID]
		reach[r.FeedID] = storage.Reach{Items: all.Items + r.Items, Reached: all.Reached + r.Reached}
	}
	return err
}
