package sqlite

import (
	"context"
	"database/sql"
	"time"

	"feedmesh/storage"
)

const (
	repeatsOf = `
		SELECT r.id, first.key FROM items first JOIN items r ON r.duplicate_of = first.id AND r.duplicate_of <> ''
		WHERE first.feed = (SELECT num FROM feeds WHERE id = ?)`
	repeatItem = `UPDATE items SET duplicate_of = ?2, changed = max(?3, coalesce(changed, first_seen) + 1) WHERE id = ?1`
	makeFirst  = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', duplicate_score = 0, duplicate_why = '',
			changed = max(?2, coalesce(changed, first_seen) + 1)
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
		for _, item := range []string{id, first} {
			if err := w.mark(ctx, item); err != nil {
				return nil, err
			}
		}
		repeats = append(repeats, id)
	}
	return repeats, nil
}

// movedAtOnce is how many items are read before they are moved.
const movedAtOnce = 5000

// A moving is an item that moves.
type moving struct {
	id, now string
	said    bool // whether it is spam, or marked, or anything is kept of it
}

const (
	// In the order in which they lie in the file.
	itemsToMove = `
		SELECT id, key, EXISTS (SELECT 1 FROM spam WHERE item_id = id) OR EXISTS (SELECT 1 FROM corrections WHERE item_id = id)
			OR EXISTS (SELECT 1 FROM kept_labels WHERE item_id = id) OR EXISTS (SELECT 1 FROM marks WHERE item_id = id)
		FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?) ORDER BY num LIMIT ?`
	renameItem = `
		UPDATE items SET id = ?2, feed = (SELECT num FROM feeds WHERE id = ?3), changed = max(?4, coalesce(changed, first_seen) + 1)
		WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM items WHERE id = ?2)`
	dropItem = `DELETE FROM items WHERE id = ?`
)

// moveItems gives the items of one feed to another, or drops those that it has.
// It returns their IDs, old and new.
func (w *writer) moveItems(ctx context.Context, from, to string) (concerned []string, err error) {
	scan := func(row scanner) (m moving, err error) {
		var key string
		err = row.Scan(&m.id, &key, &m.said)
		m.now = storage.ItemID(to, key)
		return m, err
	}
	for {
		// Those that moved have left the feed, so that the next come first.
		some, err := collect(ctx, w.itemsToMove, scan, from, movedAtOnce)
		if err != nil || len(some) == 0 {
			return concerned, err
		}
		for _, m := range some {
			if err := w.moveItem(ctx, m, to); err != nil {
				return nil, err
			}
			concerned = append(concerned, m.id, m.now)
		}
	}
}

func (w *writer) moveItem(ctx context.Context, m moving, to string) error {
	renamed, err := changes(w.renameItem.ExecContext(ctx, m.id, m.now, to, micros(time.Now())))
	switch {
	case err != nil:
		return err
	case renamed && m.said:
		return w.renameSaid(ctx, m.id, m.now)
	case renamed:
		return nil
	case m.said:
		if err := w.takeOver(ctx, m.now, m.id); err != nil {
			return err
		}
	}
	_, err = w.dropItem.ExecContext(ctx, m.id)
	return err
}

const (
	renameSpam       = `UPDATE spam SET item_id = ?2, feed = (SELECT feed FROM items WHERE id = ?2) WHERE item_id = ?1`
	renameCorrection = `UPDATE corrections SET item_id = ?2 WHERE item_id = ?1`
	renameKept       = `UPDATE kept_labels SET item_id = ?2 WHERE item_id = ?1`
)

// renameSaid has all that was said of an item be said of what it is now.
func (w *writer) renameSaid(ctx context.Context, id, now string) error {
	for _, rename := range []*sql.Stmt{w.renameSpam, w.renameCorrection, w.renameKept, w.renameMarks} {
		if _, err := rename.ExecContext(ctx, id, now); err != nil {
			return err
		}
	}
	return nil
}
