package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	// Without statistics the planner overestimates the items of a few events, and would scan the whole table.
	disableTableScans = `SET LOCAL enable_seqscan = off`

	// Locks feeds first, as Relabel does, see shareFeedsOf. Items are selected again after the feeds are
	// locked, because their IDs may have changed.
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
	// SKIP LOCKED leaves rows that another transaction is deleting to that transaction.
	deleteOldMoves = `
		DELETE FROM moved_events WHERE event_id IN (
			SELECT event_id FROM moved_events WHERE at < clock_timestamp() - interval '30 days' ORDER BY at LIMIT 1000 FOR UPDATE SKIP LOCKED)`
	putNote = `INSERT INTO notes (name, note) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET note = excluded.note`
)

const (
	// Records of clients that have one of the other story are left for deleteFollows.
	moveFollows = `
		UPDATE follows f SET value = $3
		WHERE kind = $1 AND value = $2 AND NOT EXISTS (SELECT FROM follows o WHERE o.client = f.client AND o.kind = $1 AND o.value = $3)`
	deleteFollows = `DELETE FROM follows WHERE kind = $1 AND value = $2`
)

// Rearrange implements [storage.Stories]. It excludes PutItems calls under its fence: an item stored
// afterwards from earlier reads would stay in the story that its event has left. Without a fence that may
// happen.
func (s storyStore) Rearrange(ctx context.Context, r storage.Rearrangement) ([]string, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "rearrange items", func(ctx context.Context, tx pgx.Tx) ([]string, error) {
		return rearrange(ctx, tx, r)
	})
}

func rearrange(ctx context.Context, tx pgx.Tx, r storage.Rearrangement) (changed []string, err error) {
	if err := lockFenceExclusive(ctx, tx, r.Fence); err != nil {
		return nil, err
	}
	a := arrangementOf(r)
	if _, err := tx.Exec(ctx, disableTableScans); err != nil {
		return nil, err
	}
	events, items := slices.Sorted(maps.Keys(a.stories)), slices.Sorted(maps.Keys(a.placements))
	if _, err := tx.Exec(ctx, shareFeedsToRearrange, clean(events, items)...); err != nil {
		return nil, err
	}
	stored, err := collect(ctx, tx, scanPlacement, lockToRearrange, events, items)
	if err != nil {
		return nil, err
	}
	moved := a.changes(stored)
	writing := &pgx.Batch{}
	if len(moved) > 0 {
		writing.Queue(placeItems, clean(placementColumns(moved)...)...)
	}
	if len(events) > 0 {
		stories := column(events, func(id string) string { return a.stories[id] })
		writing.Queue(moveEvents, clean(events, stories)...)
		writing.Queue(deleteOldMoves)
	}
	for _, join := range r.Joins {
		if join.StoryID != join.Into {
			writing.Queue(moveFollows, clean(storage.FollowStory, join.StoryID, join.Into)...)
			writing.Queue(deleteFollows, clean(storage.FollowStory, join.StoryID)...)
		}
	}
	if r.Name != "" {
		writing.Queue(putNote, clean(r.Name, r.Note)...)
	}
	changed = column(moved, func(p storage.Placement) string { return p.ItemID })
	slices.Sort(changed) // items of transactions that held the lock before may have new IDs
	return changed, tx.SendBatch(ctx, writing).Close()
}

// An arrangement is a [storage.Rearrangement] with cleaned texts, by ID.
type arrangement struct {
	stories    map[string]string            // by event ID
	placements map[string]storage.Placement // by item ID
}

func arrangementOf(r storage.Rearrangement) arrangement {
	a := arrangement{stories: map[string]string{}, placements: map[string]storage.Placement{}}
	for _, move := range r.Events {
		if id := cleanText(move.EventID); id != "" { // an empty ID is no event: many items may have none
			a.stories[id] = cleanText(move.StoryID)
		}
	}
	for _, p := range r.Items {
		for _, text := range []*string{&p.ItemID, &p.EventID, &p.StoryID, &p.StoryReason, &p.DuplicateOf, &p.DuplicateBy, &p.DuplicateReason} {
			*text = cleanText(*text)
		}
		a.placements[p.ItemID] = p
	}
	return a
}

// changes returns the placements that differ from the stored ones.
func (a arrangement) changes(stored []storage.Placement) (moved []storage.Placement) {
	for _, old := range stored {
		placement := old
		if story, ok := a.stories[old.EventID]; ok {
			placement.StoryID = story
		}
		if place, ok := a.placements[old.ItemID]; ok {
			placement = place
		}
		if placement != old {
			moved = append(moved, placement)
		}
	}
	return moved
}

func scanPlacement(row pgx.CollectableRow) (p storage.Placement, err error) {
	err = row.Scan(&p.ItemID, &p.EventID, &p.StoryID, &p.StoryReason, &p.DuplicateOf, &p.DuplicateBy, &p.DuplicateScore, &p.DuplicateReason)
	return p, err
}

// placementColumns returns the arguments of placeItems.
func placementColumns(places []storage.Placement) []any {
	return []any{
		column(places, func(p storage.Placement) string { return p.ItemID }),
		column(places, func(p storage.Placement) string { return p.EventID }),
		column(places, func(p storage.Placement) string { return p.StoryID }),
		column(places, func(p storage.Placement) string { return p.StoryReason }),
		column(places, func(p storage.Placement) string { return p.DuplicateOf }),
		column(places, func(p storage.Placement) string { return p.DuplicateBy }),
		column(places, func(p storage.Placement) float64 { return p.DuplicateScore }),
		column(places, func(p storage.Placement) string { return p.DuplicateReason }),
	}
}
