package sqlite

import (
	"context"
	"time"

	"feedmesh/storage"
)

const (
	repeatsOf = `
		SELECT r.id, first.key FROM items first JOIN items r ON r.duplicate_of = first.id AND r.duplicate_of <> ''
		WHERE first.feed = (SELECT num FROM feeds WHERE id = ?)`
	repeatItem = `UPDATE items SET duplicate_of = ?2, changed = max(?3, coalesce(changed, first_seen) + 1) WHERE id = ?1`
	makeFirst  = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', changed = max(?2, coalesce(changed, first_seen) + 1)
		WHERE id = ?1 AND duplicate_of <> ''`
)

// moveRepeats has the items that repeat one of a feed's repeat the one that will
// take its place in another feed, and that be the first of its kind. It returns
// their IDs.
func (w *writer) moveRepeats(ctx context.Context, from, to string) (repeats []string, err error) {
	pairs, err := collect(ctx, w.repeatsOf, scanPair, from)
	if err != nil {
		return nil, err
	}
	for _, pair := range pairs {
		id, first, at := pair[0], storage.ItemID(to, pair[1]), micros(time.Now())
		if _, err := w.repeatItem.ExecContext(ctx, id, first, at); err != nil {
			return nil, err
		}
		if _, err := w.makeFirst.ExecContext(ctx, first, at); err != nil { // if it is there already
			return nil, err
		}
		repeats = append(repeats, id)
	}
	return repeats, nil
}

// movedAtOnce is how many items are read before they are moved.
const movedAtOnce = 5000

const (
	// In the order in which they lie in the file.
	itemsToMove = `SELECT id, key FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?) ORDER BY num LIMIT ?`
	renameItem  = `
		UPDATE items SET id = ?2, feed = (SELECT num FROM feeds WHERE id = ?3), changed = max(?4, coalesce(changed, first_seen) + 1)
		WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM items WHERE id = ?2)`
	dropItem = `DELETE FROM items WHERE id = ?`
)

// moveItems gives the items of one feed to another, or drops those that it has.
// It returns their IDs, old and new.
func (w *writer) moveItems(ctx context.Context, from, to string) (concerned []string, err error) {
	for {
		// Those that moved have left the feed, so that the next come first.
		pairs, err := collect(ctx, w.itemsToMove, scanPair, from, movedAtOnce)
		if err != nil || len(pairs) == 0 {
			return concerned, err
		}
		for _, pair := range pairs {
			id, now := pair[0], storage.ItemID(to, pair[1])
			renamed, err := changes(w.renameItem.ExecContext(ctx, id, now, to, micros(time.Now())))
			if err != nil {
				return nil, err
			}
			if !renamed {
				if _, err := w.dropItem.ExecContext(ctx, id); err != nil {
					return nil, err
				}
			}
			concerned = append(concerned, id, now)
		}
	}
}
