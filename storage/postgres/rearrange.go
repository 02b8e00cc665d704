package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	// Where there are no statistics yet, a few events would be thought to have so many
	// items that all items are read.
	allByIndex = `SET LOCAL enable_seqscan = off`

	// As who relabels items does, see shareFeedsOf; but what is looked for is looked
	// for again once the feeds are locked, as items of an event may have other IDs then.
	shareFeedsToRearrange = `
		SELECT id FROM feeds WHERE num IN (SELECT feed FROM items WHERE event_id = ANY($1) OR id = ANY($2)) ORDER BY id FOR SHARE`
	lockToRearrange = `
		SELECT id, event_id, story_id, story_why, duplicate_of, duplicate_by, duplicate_score, duplicate_why
		FROM items WHERE event_id = ANY($1) OR id = ANY($2) ORDER BY id FOR NO KEY UPDATE`
	placeItems = `
		UPDATE items SET event_id = new.event_id, story_id = new.story_id, story_why = new.story_why,
			duplicate_of = new.duplicate_of, duplicate_by = new.duplicate_by,
			duplicate_score = new.duplicate_score, duplicate_why = new.duplicate_why, changed = ` + nextChanged + `
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[], $8::text[])
			AS new (id, event_id, story_id, story_why, duplicate_of, duplicate_by, duplicate_score, duplicate_why)
		WHERE items.id = new.id`
	moveEvents = `
		INSERT INTO moved_events (at, event_id, story_id)
		SELECT clock_timestamp(), event_id, story_id FROM unnest($1::text[], $2::text[]) AS moved (event_id, story_id)
		ORDER BY event_id
		ON CONFLICT (event_id) DO UPDATE SET at = excluded.at, story_id = excluded.story_id`
	// Those that others forget in this moment are left to them.
	forgetMoves = `
		DELETE FROM moved_events WHERE event_id IN (
			SELECT event_id FROM moved_events WHERE at < clock_timestamp() - interval '30 days' ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED)`
)

// Rearrange implements [storage.Stories]. No PutItems under its fence is at work
// beside it: an item that one stored after it with what it read before would stay
// in the story that its event has left. Without a fence that may happen.
func (s *Store) Rearrange(ctx context.Context, r storage.Rearrangement) (changed []string, err error) {
	err = s.change(ctx, "rearrange items", func(ctx context.Context, tx pgx.Tx) (err error) {
		changed, err = rearrange(ctx, tx, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

func rearrange(ctx context.Context, tx pgx.Tx, r storage.Rearrangement) (changed []string, err error) {
	if err := takeAlone(ctx, tx, r.Fence); err != nil {
		return nil, err
	}
	a := arrangementOf(r)
	if _, err := tx.Exec(ctx, allByIndex); err != nil {
		return nil, err
	}
	events, items := slices.Sorted(maps.Keys(a.stories)), slices.Sorted(maps.Keys(a.places))
	if _, err := tx.Exec(ctx, shareFeedsToRearrange, clean(events, items)...); err != nil {
		return nil, err
	}
	there, err := collect(ctx, tx, scanPlacement, lockToRearrange, events, items)
	if err != nil {
		return nil, err
	}
	moved := a.changes(there)
	writing := &pgx.Batch{}
	if len(moved) > 0 {
		writing.Queue(placeItems, clean(placementColumns(moved)...)...)
	}
	if len(events) > 0 {
		stories := column(events, func(id string) string { return a.stories[id] })
		writing.Queue(moveEvents, clean(events, stories)...)
		writing.Queue(forgetMoves)
	}
	if r.Name != "" {
		writing.Queue(putNote, clean(r.Name, r.Note)...)
	}
	changed = column(moved, func(p storage.Placement) string { return p.ItemID })
	slices.Sort(changed) // those who were waited for may have other IDs
	return changed, tx.SendBatch(ctx, writing).Close()
}

// An arrangement is what a [storage.Rearrangement] says, as PostgreSQL takes it.
type arrangement struct {
	stories map[string]string            // by event ID
	places  map[string]storage.Placement // by item ID
}

func arrangementOf(r storage.Rearrangement) arrangement {
	a := arrangement{stories: map[string]string{}, places: map[string]storage.Placement{}}
	for _, move := range r.Events {
		if id := cleanText(move.EventID); id != "" { // which is no event: many items may have none
			a.stories[id] = cleanText(move.StoryID)
		}
	}
	for _, p := range r.Items {
		for _, text := range []*string{&p.ItemID, &p.EventID, &p.StoryID, &p.StoryWhy, &p.DuplicateOf, &p.DuplicateBy, &p.DuplicateWhy} {
			*text = cleanText(*text)
		}
		a.places[p.ItemID] = p
	}
	return a
}

// changes returns those of the placements that are others now.
func (a arrangement) changes(there []storage.Placement) (moved []storage.Placement) {
	for _, was := range there {
		now := was
		if story, ok := a.stories[was.EventID]; ok {
			now.StoryID = story
		}
		if place, ok := a.places[was.ItemID]; ok {
			now = place
		}
		if now != was {
			moved = append(moved, now)
		}
	}
	return moved
}

func scanPlacement(row pgx.CollectableRow) (p storage.Placement, err error) {
	err = row.Scan(&p.ItemID, &p.EventID, &p.StoryID, &p.StoryWhy, &p.DuplicateOf, &p.DuplicateBy, &p.DuplicateScore, &p.DuplicateWhy)
	return p, err
}

// placementColumns returns the arguments of placeItems.
func placementColumns(places []storage.Placement) []any {
	return []any{
		column(places, func(p storage.Placement) string { return p.ItemID }),
		column(places, func(p storage.Placement) string { return p.EventID }),
		column(places, func(p storage.Placement) string { return p.StoryID }),
		column(places, func(p storage.Placement) string { return p.StoryWhy }),
		column(places, func(p storage.Placement) string { return p.DuplicateOf }),
		column(places, func(p storage.Placement) string { return p.DuplicateBy }),
		column(places, func(p storage.Placement) float64 { return p.DuplicateScore }),
		column(places, func(p storage.Placement) string { return p.DuplicateWhy }),
	}
}
