package sqlite

import (
	"context"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

const putNote = `INSERT OR REPLACE INTO notes (name, note) VALUES (?, nullif(?, x''))`

// moveRetention is the period in which a moved event also assigns its new items.
const moveRetention = 30 * 24 * time.Hour

// Rearrange implements [storage.Stories].
func (s storyStore) Rearrange(ctx context.Context, r storage.Rearrangement) ([]string, error) {
	return inTransaction(ctx, s.engine, "rearrange", func(w *writer) ([]string, error) {
		if err := checkFence(ctx, w, r.Fence); err != nil {
			return nil, err
		}
		placements := map[string]storage.Placement{}
		for _, p := range r.Items {
			placements[p.ItemID] = p
		}
		moved, err := moveEvents(ctx, w, r.Events, placements)
		if err != nil {
			return nil, err
		}
		placed, err := placeItems(ctx, w, placements)
		if err != nil {
			return nil, err
		}
		for _, join := range r.Joins {
			if err := joinFollows(ctx, w, join); err != nil {
				return nil, err
			}
		}
		changed := append(moved, placed...)
		slices.Sort(changed)
		if r.Name == "" {
			return changed, nil
		}
		_, err = w.exec(ctx, putNote, r.Name, r.Note)
		return changed, err
	})
}

const (
	moveFollows   = `UPDATE OR IGNORE follows SET value = ?3 WHERE kind = ?1 AND value = ?2`
	deleteFollows = `DELETE FROM follows WHERE kind = ?1 AND value = ?2`
)

// joinFollows moves the records of a story that became part of another one.
func joinFollows(ctx context.Context, w *writer, join storage.StoryJoin) error {
	if join.StoryID == join.Into {
		return nil
	}
	if _, err := w.exec(ctx, moveFollows, storage.FollowStory, join.StoryID, join.Into); err != nil {
		return err
	}
	_, err := w.exec(ctx, deleteFollows, storage.FollowStory, join.StoryID) // of clients with a record of the other one
	return err
}

const (
	deleteOldMoves     = `DELETE FROM moved_events WHERE at < ?`
	putMove            = `INSERT OR REPLACE INTO moved_events (event_id, story_id, at) VALUES (?, ?, ?)`
	deleteEventStories = `DELETE FROM event_stories WHERE event_id = ? RETURNING story_id`
	eventsOf           = `SELECT id, event_id FROM items WHERE story_id = ?`
	setStory           = `UPDATE items SET story_id = ?2, changed = max(?3, coalesce(changed, first_seen) + 1) WHERE id = ?1`
)

// moveEvents assigns events and their items to other stories, except for items in placed, and returns the IDs
// of the moved items.
func moveEvents(ctx context.Context, w *writer, moves []storage.EventMove, placed map[string]storage.Placement) (moved []string, err error) {
	at := time.Now()
	if _, err := w.exec(ctx, deleteOldMoves, micros(at.Add(-moveRetention))); err != nil {
		return nil, err
	}
	to := map[string]string{} // stories by event ID
	for _, move := range moves {
		if move.EventID != "" {
			to[move.EventID] = move.StoryID
		}
	}
	from := map[string]bool{} // stories
	for event, story := range to {
		if _, err := w.exec(ctx, putMove, event, story, micros(at)); err != nil {
			return nil, err
		}
		others, err := collect(ctx, w, deleteEventStories, scanText, event)
		if err != nil {
			return nil, err
		}
		for _, old := range append(others, storage.StoryID(event)) {
			from[old] = true
		}
		if err := addEventStory(ctx, w, event, story); err != nil {
			return nil, err
		}
	}
	// A story may be large: read it once for all of its events, and before any event moves into it.
	leaving := map[string][]string{} // item IDs by target story
	for _, old := range slices.Sorted(maps.Keys(from)) {
		items, err := collect(ctx, w, eventsOf, scanPair, old)
		if err != nil {
			return nil, err
		}
		unchanged := true
		for _, item := range items {
			story, moves := to[item[1]]
			if _, apart := placed[item[0]]; moves && !apart && story != old {
				leaving[story] = append(leaving[story], item[0])
				moved, unchanged = append(moved, item[0]), false
			}
		}
		if !unchanged {
			if err := markStoriesDirty(ctx, w, []string{old}); err != nil {
				return nil, err
			}
		}
	}
	for _, story := range slices.Sorted(maps.Keys(leaving)) {
		for _, id := range leaving[story] {
			if _, err := w.exec(ctx, setStory, id, story, micros(at)); err != nil {
				return nil, err
			}
		}
	}
	return moved, markStoriesDirty(ctx, w, slices.Collect(maps.Keys(leaving)))
}

const addEvent = `INSERT INTO event_stories (event_id, story_id) VALUES (?, ?) ON CONFLICT DO NOTHING`

// addEventStory records that a story other than the event's own may contain items of the event, so that a later
// move finds them.
func addEventStory(ctx context.Context, w *writer, event, story string) error {
	if event == "" || story == storage.StoryID(event) {
		return nil
	}
	_, err := w.exec(ctx, addEvent, event, story)
	return err
}

const placementColumns = `id, event_id, story_id, story_why, duplicate_of, duplicate_by, duplicate_score, duplicate_why`

var placementsByID = `SELECT ` + placementColumns + ` FROM items WHERE id IN (` + placeholders + `)`

func scanPlacement(row scanner) (p storage.Placement, err error) {
	err = row.Scan(&p.ItemID, &p.EventID, &p.StoryID, &p.StoryReason, &p.DuplicateOf, &p.DuplicateBy, &p.DuplicateScore, &p.DuplicateReason)
	return p, err
}

const placeItem = `
	UPDATE items SET event_id = ?2, story_id = ?3, story_why = ?4, duplicate_of = ?5, duplicate_by = ?6, duplicate_score = ?7,
		duplicate_why = ?8, changed = max(?9, coalesce(changed, first_seen) + 1)
	WHERE id = ?1`

// placeItems applies the placements, and returns the IDs of the items whose placement changed.
func placeItems(ctx context.Context, w *writer, placements map[string]storage.Placement) (changed []string, err error) {
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(placements)), chunkSize) {
		stored, err := collect(ctx, w, placementsByID, scanPlacement, chunkArgs(batch)...)
		if err != nil {
			return nil, err
		}
		for _, p := range stored { // even if unchanged, because its event may just have moved
			if err := addEventStory(ctx, w, placements[p.ItemID].EventID, placements[p.ItemID].StoryID); err != nil {
				return nil, err
			}
		}
		stored = slices.DeleteFunc(stored, func(p storage.Placement) bool { return p == placements[p.ItemID] })
		var old, now []string
		for _, p := range stored {
			old, now = append(old, p.StoryID), append(now, placements[p.ItemID].StoryID)
			changed = append(changed, p.ItemID)
		}
		if err := markStoriesDirty(ctx, w, old); err != nil {
			return nil, err
		}
		for _, p := range stored {
			if err := place(ctx, w, placements[p.ItemID]); err != nil {
				return nil, err
			}
		}
		if err := markStoriesDirty(ctx, w, now); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

func place(ctx context.Context, w *writer, p storage.Placement) error {
	_, err := w.exec(ctx, placeItem, p.ItemID, p.EventID, p.StoryID, p.StoryReason, p.DuplicateOf, p.DuplicateBy, p.DuplicateScore,
		p.DuplicateReason, micros(time.Now()))
	return err
}

const storiesOfMoved = `
	SELECT m.event_id, m.story_id FROM json_each(?) e CROSS JOIN moved_events m ON m.event_id = e.value`

// movedStories returns the stories of moved events by event ID, for events of new items.
func movedStories(ctx context.Context, w *writer, items []storage.Item) (map[string]string, error) {
	var events []string
	for _, item := range items {
		if item.EventID != "" {
			events = append(events, item.EventID)
		}
	}
	if len(events) == 0 {
		return nil, nil
	}
	stories := map[string]string{}
	_, err := collect(ctx, w, storiesOfMoved, func(row scanner) (event string, err error) {
		var story string
		err = row.Scan(&event, &story)
		stories[event] = story
		return event, err
	}, asJSON(events))
	return stories, err
}
