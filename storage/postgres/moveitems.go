package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// moveBatchSize is the batch size of a move.
const moveBatchSize = 1000

// A renaming is an item's ID and its replacement.
type renaming struct{ id, newID string }

// renamings returns a scan function for an ID and a key. The replacement is the ID of that key in the given
// feed.
func renamings(feedID string) pgx.RowToFunc[renaming] {
	return func(row pgx.CollectableRow) (r renaming, err error) {
		var key string
		err = row.Scan(&r.id, &key)
		r.newID = storage.ItemID(feedID, key)
		return r, err
	}
}

func oldIDs(all []renaming) []string { return column(all, func(r renaming) string { return r.id }) }
func newIDs(all []renaming) []string { return column(all, func(r renaming) string { return r.newID }) }

const (
	duplicatesOfFeed = `
		SELECT r.id, first.key FROM items r JOIN items first ON first.id = r.duplicate_of
		WHERE first.feed = $1 AND r.duplicate_of <> ''
		ORDER BY r.id FOR NO KEY UPDATE OF r`
	setDuplicatesOf = `
		UPDATE items SET duplicate_of = now, changed = ` + nextChanged + `
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE items.id = old`
	makeOriginals = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', duplicate_score = 0, duplicate_why = '', changed = ` + nextChanged + `
		WHERE id = ANY($1) AND duplicate_of <> ''`
)

// moveDuplicates changes the duplicates of a feed's items to duplicates of the corresponding items of feed toID,
// and makes those originals. It returns the IDs of the duplicates. Both feeds are locked.
func moveDuplicates(ctx context.Context, tx pgx.Tx, from int32, toID string) ([]string, error) {
	all, err := collect(ctx, tx, renamings(toID), duplicatesOfFeed, from)
	if err != nil {
		return nil, err
	}
	for batch := range slices.Chunk(all, moveBatchSize) {
		updates := &pgx.Batch{}
		updates.Queue(setDuplicatesOf, oldIDs(batch), newIDs(batch))
		updates.Queue(makeOriginals, newIDs(batch)) // if they exist already
		if err := tx.SendBatch(ctx, updates).Close(); err != nil {
			return nil, err
		}
	}
	return oldIDs(all), nil
}

const (
	itemsToMove = `DECLARE to_move NO SCROLL CURSOR FOR SELECT id, key FROM items WHERE feed = $1`
	deleteItems = `
		DELETE FROM items USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE items.id = old AND EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	deleteSavedLabelsOfDeleted = `
		DELETE FROM kept_labels USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = old AND EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	// Older program versions without kept_labels may have left rows of removed items.
	deleteStrayLabels = `
		DELETE FROM kept_labels USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = now AND NOT EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	renameSavedLabels = `
		UPDATE kept_labels SET item_id = now
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = old`
	renameItems = `
		UPDATE items SET id = now, feed = $3, changed = ` + nextChanged + `
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE items.id = old`
)

var nextToMove = fmt.Sprintf(`FETCH %d FROM to_move`, moveBatchSize)

// moveItems moves the items of one feed to another, with the ID toID, and deletes those that the other
// contains already. It returns the old and new IDs. Both feeds are locked.
func moveItems(ctx context.Context, tx pgx.Tx, from, to int32, toID string) (affected []string, err error) {
	// The cursor iterates over a snapshot of the feed, unaffected by the moves.
	if _, err := tx.Exec(ctx, itemsToMove, from); err != nil {
		return nil, err
	}
	for {
		batch, err := collect(ctx, tx, renamings(toID), nextToMove)
		if err != nil || len(batch) == 0 {
			return affected, err
		}
		old, now := oldIDs(batch), newIDs(batch)
		if err := inheritCorrections(ctx, tx, old, now); err != nil {
			return nil, err
		}
		statements := &pgx.Batch{}
		statements.Queue(deleteSavedLabelsOfDeleted, old, now)
		statements.Queue(deleteStrayLabels, old, now)
		statements.Queue(renameSavedLabels, old, now)
		for _, statement := range []string{deleteStrayMarks, mergeMarks, deleteMergedMarks, renameMarks, deleteStrayAnnotations, mergeAnnotations, deleteMergedAnnotations, renameAnnotations,
			deleteStraySerials, deleteMergedSerials, renameSerials} {
			statements.Queue(statement, old, now)
		}
		statements.Queue(deleteItems, old, now)
		statements.Queue(renameItems, old, now, to)
		if err := tx.SendBatch(ctx, statements).Close(); err != nil {
			return nil, err
		}
		affected = append(append(affected, old...), now...)
	}
}
