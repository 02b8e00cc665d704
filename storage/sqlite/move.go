package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"feedmesh/storage"
)

const resolveFeed = `
	SELECT id FROM feeds WHERE id = ?1
	UNION ALL SELECT f.id FROM moved m JOIN feeds f ON f.num = m.feed WHERE m.id = ?1
	LIMIT 1`

// ResolveFeed implements [storage.Feeds].
func (s feedStore) ResolveFeed(ctx context.Context, id string) (string, error) {
	now, err := scanText(s.read.row(ctx, resolveFeed, id))
	return now, s.wrap(ctx, "look up feed", err)
}

const (
	mergeFeed = `
		UPDATE feeds SET title = ?1, site = ?2, language = ?3, tags = ?4, pinned = ?5, full_text = ?6, request = ?7, added = ?8, rate = ?9,
			spam_threshold = ?10, keep = ?13, purged = ?14, categories = ?11, words = feed_words(?1, url, ?2),
			items = (SELECT count(*) FROM items WHERE feed = feeds.num),
			last_item = (SELECT max(published) FROM items WHERE feed = feeds.num)
		WHERE id = ?12`
	moveRedirects = `
		UPDATE moved SET feed = (SELECT num FROM feeds WHERE id = ?2)
		WHERE feed = (SELECT num FROM feeds WHERE id = ?1)`
	putRedirect = `
		INSERT INTO moved (id, feed) VALUES (?1, (SELECT num FROM feeds WHERE id = ?2))
		ON CONFLICT (id) DO UPDATE SET feed = excluded.feed`
)

// MoveFeed implements [storage.Feeds].
func (s feedStore) MoveFeed(ctx context.Context, id, url string) ([]string, error) {
	defer s.feedIDs.clear() // the old feed is removed
	return inTransaction(ctx, s.engine, "move feed", func(w *writer) (affected []string, err error) {
		old, err := scanFeed(w.row(ctx, feedByID, id))
		if err != nil || old.URL == url {
			return nil, err
		}
		to, err := moveTarget(ctx, w, id, url)
		if err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, addDirtyStoriesOfFeed, id); err != nil {
			return nil, err
		}
		duplicates, err := moveDuplicates(ctx, w, id, to.ID)
		if err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, addReadMarks, id, to.ID); err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, deleteReadUntilOfFeed, id); err != nil {
			return nil, err
		}
		moved, err := moveItems(ctx, w, id, to.ID)
		if err != nil {
			return nil, err
		}
		affected = slices.Compact(slices.Sorted(slices.Values(append(moved, duplicates...))))
		f := storage.MergeFeeds(to, old)
		_, err = w.exec(ctx, mergeFeed, f.Title, f.Site, f.Language, listOrNull(f.Tags), f.Pinned, f.FullText,
			requestOrNull(f.Request), micros(f.Added), f.Rate, f.SpamThreshold, countsOrNull(f.Categories), f.ID,
			f.Keep, f.Purged)
		if err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, movePurged, id, to.ID); err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, moveRedirects, id, to.ID); err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, putRedirect, id, to.ID); err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, renameSerialOfFeed, id, to.ID); err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, deleteSerialOfFeed, id); err != nil { // the feed that it moves to has a number
			return nil, err
		}
		_, err = scanText(w.row(ctx, removeFeed, id))
		return affected, err
	})
}

const deleteRedirect = `DELETE FROM moved WHERE id = ? AND feed = (SELECT num FROM feeds WHERE id = ?)`

// moveTarget returns the feed that a move to the URL leads to, and adds it if necessary.
func moveTarget(ctx context.Context, w *writer, id, url string) (to storage.Feed, err error) {
	to = storage.Feed{ID: storage.FeedID(url), URL: url}
	if _, err := w.exec(ctx, deleteRedirect, to.ID, id); err != nil {
		return to, err
	}
	now, err := scanText(w.row(ctx, resolveFeed, to.ID))
	if errors.Is(err, sql.ErrNoRows) {
		_, err = addFeedRow(ctx, w, to)
		return to, err
	}
	if err != nil {
		return to, err
	}
	return scanFeed(w.row(ctx, feedByID, now))
}

const (
	duplicatesOfFeed = `
		SELECT r.id, first.key FROM items first JOIN items r ON r.duplicate_of = first.id AND r.duplicate_of <> ''
		WHERE first.feed = (SELECT num FROM feeds WHERE id = ?)`
	setDuplicateOf = `UPDATE items SET duplicate_of = ?2, changed = max(?3, coalesce(changed, first_seen) + 1) WHERE id = ?1`
	makeOriginal   = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', duplicate_score = 0, duplicate_why = '',
			changed = max(?2, coalesce(changed, first_seen) + 1)
		WHERE id = ?1 AND duplicate_of <> ''`
)

// moveDuplicates changes the duplicates of a feed's items to duplicates of the corresponding items of another
// feed, and makes those originals. It returns the IDs of the duplicates.
func moveDuplicates(ctx context.Context, w *writer, from, to string) (duplicates []string, err error) {
	pairs, err := collect(ctx, w, duplicatesOfFeed, scanPair, from)
	if err != nil {
		return nil, err
	}
	for _, pair := range pairs {
		id, first, at := pair[0], storage.ItemID(to, pair[1]), micros(time.Now())
		if _, err := w.exec(ctx, setDuplicateOf, id, first, at); err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, makeOriginal, first, at); err != nil { // if it exists already
			return nil, err
		}
		for _, item := range []string{id, first} {
			if err := markStoryOfItemDirty(ctx, w, item); err != nil {
				return nil, err
			}
		}
		duplicates = append(duplicates, id)
	}
	return duplicates, nil
}

// moveBatchSize is the batch size for reading items to move.
const moveBatchSize = 5000

// A movingItem is an item that moves to another feed.
type movingItem struct {
	id, newID  string
	referenced bool // other tables refer to it: spam, corrections, labels, marks, annotations, serials
}

const (
	// In file order.
	itemsToMove = `
		SELECT id, key, EXISTS (SELECT 1 FROM spam WHERE item_id = id) OR EXISTS (SELECT 1 FROM corrections WHERE item_id = id)
			OR EXISTS (SELECT 1 FROM kept_labels WHERE item_id = id) OR EXISTS (SELECT 1 FROM marks WHERE item_id = id)
			OR EXISTS (SELECT 1 FROM annotations WHERE item_id = id) OR EXISTS (SELECT 1 FROM serials WHERE name = id)
		FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?) ORDER BY num LIMIT ?`
	renameItem = `
		UPDATE items SET id = ?2, feed = (SELECT num FROM feeds WHERE id = ?3), changed = max(?4, coalesce(changed, first_seen) + 1)
		WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM items WHERE id = ?2)`
	deleteItem = `DELETE FROM items WHERE id = ?`
)

// moveItems moves the items of one feed to another, and deletes those that the other contains already. It
// returns the old and new IDs.
func moveItems(ctx context.Context, w *writer, from, to string) (affected []string, err error) {
	scan := func(row scanner) (m movingItem, err error) {
		var key string
		err = row.Scan(&m.id, &key, &m.referenced)
		m.newID = storage.ItemID(to, key)
		return m, err
	}
	for {
		// Moved items no longer belong to the feed, so each batch starts at the front.
		some, err := collect(ctx, w, itemsToMove, scan, from, moveBatchSize)
		if err != nil || len(some) == 0 {
			return affected, err
		}
		for _, m := range some {
			if err := moveItem(ctx, w, m, to); err != nil {
				return nil, err
			}
			affected = append(affected, m.id, m.newID)
		}
	}
}

func moveItem(ctx context.Context, w *writer, m movingItem, to string) error {
	renamed, err := changes(w.exec(ctx, renameItem, m.id, m.newID, to, micros(time.Now())))
	switch {
	case err != nil:
		return err
	case renamed && m.referenced:
		return renameReferences(ctx, w, m.id, m.newID)
	case renamed:
		return nil
	case m.referenced:
		if err := inheritRecords(ctx, w, m.newID, m.id); err != nil {
			return err
		}
	}
	_, err = w.exec(ctx, deleteItem, m.id)
	return err
}

const (
	renameSpam        = `UPDATE spam SET item_id = ?2, feed = (SELECT feed FROM items WHERE id = ?2) WHERE item_id = ?1`
	renameCorrection  = `UPDATE corrections SET item_id = ?2 WHERE item_id = ?1`
	renameSavedLabels = `UPDATE kept_labels SET item_id = ?2 WHERE item_id = ?1`
)

// renameReferences updates the records of other tables to the item's new ID.
func renameReferences(ctx context.Context, w *writer, id, now string) error {
	for _, rename := range []string{renameSpam, renameCorrection, renameSavedLabels, renameMarks, renameAnnotations, renameSerial} {
		if _, err := w.exec(ctx, rename, id, now); err != nil {
			return err
		}
	}
	return nil
}
