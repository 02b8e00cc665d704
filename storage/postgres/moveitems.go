package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// movedAtOnce is how many items one statement changes.
const movedAtOnce = 1000

// A renaming is an item's ID and another that takes some place of it.
type renaming struct{ id, now string }

// renamings returns a scan of an ID and a key, as which an item of the feed with
// the given ID takes the place.
func renamings(feedID string) pgx.RowToFunc[renaming] {
	return func(row pgx.CollectableRow) (r renaming, err error) {
		var key string
		err = row.Scan(&r.id, &key)
		r.now = storage.ItemID(feedID, key)
		return r, err
	}
}

func oldIDs(all []renaming) []string { return column(all, func(r renaming) string { return r.id }) }
func newIDs(all []renaming) []string { return column(all, func(r renaming) string { return r.now }) }

const (
	repeatsOf = `
		SELECT r.id, first.key FROM items r JOIN items first ON first.id = r.duplicate_of
		WHERE first.feed = $1 AND r.duplicate_of <> ''
		ORDER BY r.id FOR NO KEY UPDATE OF r`
	repeatItems = `
		UPDATE items SET duplicate_of = now, changed = ` + nextChanged + `
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE items.id = old`
	makeFirst = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', duplicate_score = 0, duplicate_why = '', changed = ` + nextChanged + `
		WHERE id = ANY($1) AND duplicate_of <> ''`
)

// moveRepeats has the items that repeat one of a feed's repeat the one that will
// take its place in the feed toID, and that be the first of its kind. It returns
// their IDs. Both feeds are locked.
func moveRepeats(ctx context.Context, tx pgx.Tx, from int32, toID string) ([]string, error) {
	all, err := collect(ctx, tx, renamings(toID), repeatsOf, from)
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(all, movedAtOnce) {
		repeating := &pgx.Batch{}
		repeating.Queue(repeatItems, oldIDs(some), newIDs(some))
		repeating.Queue(makeFirst, newIDs(some)) // those that are there already
		if err := tx.SendBatch(ctx, repeating).Close(); err != nil {
			return nil, err
		}
	}
	return oldIDs(all), nil
}

const (
	itemsToMove = `DECLARE to_move NO SCROLL CURSOR FOR SELECT id, key FROM items WHERE feed = $1`
	dropItems   = `
		DELETE FROM items USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE items.id = old AND EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	dropKeptOf = `
		DELETE FROM kept_labels USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = old AND EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	// What a program from before kept_labels removed may have left some of.
	dropStray = `
		DELETE FROM kept_labels USING unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = now AND NOT EXISTS (SELECT FROM items kept WHERE kept.id = now)`
	renameKept = `
		UPDATE kept_labels SET item_id = now
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE item_id = old`
	renameItems = `
		UPDATE items SET id = now, feed = $3, changed = ` + nextChanged + `
		FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
		WHERE items.id = old`
)

var nextToMove = fmt.Sprintf(`FETCH %d FROM to_move`, movedAtOnce)

// moveItems gives the items of one feed to another, whose ID is toID, or drops
// those that it has. It returns their IDs, old and new. Both feeds are locked.
func moveItems(ctx context.Context, tx pgx.Tx, from, to int32, toID string) (concerned []string, err error) {
	// The cursor goes on over the feed as it was, whatever moves meanwhile.
	if _, err := tx.Exec(ctx, itemsToMove, from); err != nil {
		return nil, err
	}
	for {
		some, err := collect(ctx, tx, renamings(toID), nextToMove)
		if err != nil || len(some) == 0 {
			return concerned, err
		}
		old, now := oldIDs(some), newIDs(some)
		if err := takeOver(ctx, tx, old, now); err != nil {
			return nil, err
		}
		moving := &pgx.Batch{}
		moving.Queue(dropKeptOf, old, now)
		moving.Queue(dropStray, old, now)
		moving.Queue(renameKept, old, now)
		for _, statement := range []string{dropStrayMarks, takeMarks, dropTakenMarks, renameMarks} {
			moving.Queue(statement, old, now)
		}
		moving.Queue(dropItems, old, now)
		moving.Queue(renameItems, old, now, to)
		if err := tx.SendBatch(ctx, moving).Close(); err != nil {
			return nil, err
		}
		concerned = append(append(concerned, old...), now...)
	}
}
