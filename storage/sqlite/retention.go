package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

// isUnprotected is the condition that item i may be purged, see [storage.Retention].
const isUnprotected = `NOT i.corrected AND (i.flags IS NULL OR instr(i.flags, '"starred"') = 0)
		AND NOT EXISTS (SELECT 1 FROM marks WHERE item_id = i.id AND starred)
		AND NOT EXISTS (SELECT 1 FROM annotations WHERE item_id = i.id)
		AND NOT EXISTS (SELECT 1 FROM items d WHERE d.duplicate_of = i.id AND d.duplicate_of <> '')`

const (
	expiredColumns = `i.id, f.id, i.first_seen, i.published, octet_length(i.html)`
	// The index has the items in order of time, with their feeds. A whole item is read only if it is old and of
	// one of the feeds. ?3 is NULL for all feeds.
	expiredByAge = `
		SELECT ` + expiredColumns + `
		FROM items i INDEXED BY items_by_arrival CROSS JOIN feeds f ON f.num = i.feed
		WHERE i.first_seen < ?1 AND i.first_seen >= ?2 AND (?3 IS NULL OR i.feed IN (SELECT num FROM feeds WHERE id IN (SELECT value FROM json_each(?3))))
			AND i.feed NOT IN (SELECT num FROM feeds WHERE id IN (SELECT value FROM json_each(?4)))
			AND (i.first_seen, i.id) > (?2, ?5) AND ` + isUnprotected + `
		ORDER BY i.first_seen, i.id LIMIT ?6`
	expiredByNumber = `
		SELECT ` + expiredColumns + `
		FROM feeds f CROSS JOIN items i ON i.feed = f.num
		WHERE f.id = ?1 AND i.first_seen < ?2 AND (i.published, i.id) > (?3, ?4)
			AND (i.published, i.id) < (SELECT published, id FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?1) ORDER BY published DESC, id DESC LIMIT 1 OFFSET ?5 - 1)
			AND ` + isUnprotected + `
		ORDER BY i.published, i.id LIMIT ?6`
)

// ExpiredItems implements [storage.Retention].
func (s retentionStore) ExpiredItems(ctx context.Context, q storage.ExpiredQuery, after storage.ExpiredItem, limit int) ([]storage.ExpiredItem, error) {
	statement, args := expiredByAge, []any{micros(q.Before), micros(after.FirstSeen), nil, asJSON(q.Except), after.ID, max(limit, 0)}
	switch {
	case q.Newest > 0 && len(q.Feeds) == 1:
		statement, args = expiredByNumber, []any{q.Feeds[0], micros(q.Before), micros(after.Published), after.ID, q.Newest, max(limit, 0)}
	case q.Feeds != nil:
		args[2] = asJSON(q.Feeds)
	}
	return read(ctx, s.engine, "list expired items", statement, func(row scanner) (e storage.ExpiredItem, err error) {
		err = row.Scan(&e.ID, &e.FeedID, nullTime{&e.FirstSeen}, nullTime{&e.Published}, &e.Bytes)
		return e, err
	}, args...)
}

// In all statements, ?1 is a JSON list of the nums of items.
const (
	itemsToPurge = `
		SELECT i.num, i.id, i.feed, i.key, i.event_id, i.story_id
		FROM json_each(?) j CROSS JOIN items i ON i.id = j.value WHERE ` + isUnprotected
	deletePurgedSpam    = `DELETE FROM spam WHERE item_id IN (SELECT id FROM items WHERE num IN (SELECT value FROM json_each(?1)))`
	deletePurgedMarks   = `DELETE FROM marks WHERE item_id IN (SELECT id FROM items WHERE num IN (SELECT value FROM json_each(?1)))`
	deletePurgedLabels  = `DELETE FROM kept_labels WHERE item_id IN (SELECT id FROM items WHERE num IN (SELECT value FROM json_each(?1)))`
	deletePurgedSerials = `DELETE FROM serials WHERE name IN (SELECT id FROM items WHERE num IN (SELECT value FROM json_each(?1)))`
	deletePurgedItems   = `DELETE FROM items WHERE num IN (SELECT value FROM json_each(?1))`
	// The pair of an event and a story goes with its last item.
	deletePurgedEvents = `
		DELETE FROM event_stories WHERE event_id = ?1 AND story_id = ?2
			AND NOT EXISTS (SELECT 1 FROM items WHERE story_id = ?2 AND event_id = ?1)`

	putPurgedKey = `INSERT INTO purged (feed, key, listed) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET listed = ?3`
	forgetKeys   = `DELETE FROM purged WHERE feed = ? AND listed < ?`
	countPurged  = `UPDATE feeds SET items = items - ?2, purged = purged + ?2 WHERE num = ?1`
)

// A purgedRow contains the columns of an item that its deletion needs.
type purgedRow struct {
	num, feed             int64
	id, key, event, story string
}

// PurgeItems implements [storage.Retention].
func (s retentionStore) PurgeItems(ctx context.Context, fence storage.Fence, ids ...string) ([]string, error) {
	return inTransaction(ctx, s.engine, "purge items", func(w *writer) ([]string, error) {
		if err := checkFence(ctx, w, fence); err != nil {
			return nil, err
		}
		rows, err := collect(ctx, w, itemsToPurge, func(row scanner) (p purgedRow, err error) {
			err = row.Scan(&p.num, &p.id, &p.feed, &p.key, &p.event, &p.story)
			return p, err
		}, asJSON(ids))
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return purge(ctx, w, rows)
	})
}

// purge deletes the items and everything that refers to them, and remembers their keys.
func purge(ctx context.Context, w *writer, rows []purgedRow) (purged []string, err error) {
	var nums []int64
	var stories []string
	today := storage.Day(time.Now())
	perFeed := map[int64]int{}
	for _, p := range rows {
		if _, err := w.exec(ctx, putPurgedKey, p.feed, storage.KeyNumber(p.key), micros(today)); err != nil {
			return nil, err
		}
		nums, purged = append(nums, p.num), append(purged, p.id)
		if p.story != "" {
			stories = append(stories, p.story)
		}
		perFeed[p.feed]++
	}
	if err := markStoriesDirty(ctx, w, stories); err != nil {
		return nil, err
	}
	for _, statement := range []string{deletePurgedSpam, deletePurgedMarks, deletePurgedLabels, deletePurgedSerials, deletePurgedItems} {
		if _, err := w.exec(ctx, statement, asJSON(nums)); err != nil {
			return nil, err
		}
	}
	events := map[[2]string]bool{}
	for _, p := range rows {
		if pair := [2]string{p.event, p.story}; p.event != "" && !events[pair] {
			events[pair] = true
			if _, err := w.exec(ctx, deletePurgedEvents, p.event, p.story); err != nil {
				return nil, err
			}
		}
	}
	for feed, n := range perFeed {
		if _, err := w.exec(ctx, countPurged, feed, n); err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, forgetKeys, feed, micros(today.Add(-storage.PurgedKeysKept))); err != nil {
			return nil, err
		}
	}
	return purged, nil
}

// ReleaseSpace implements [storage.Retention]. Files made without auto_vacuum return nothing; see [storage.Retention].
func (s retentionStore) ReleaseSpace(ctx context.Context, bytes int64) (rest int64, err error) {
	return inTransaction(ctx, s.engine, "release space", func(w *writer) (int64, error) { return releaseSpace(ctx, w, bytes) })
}

const (
	spaceOfFile = `
		SELECT (SELECT freelist_count FROM pragma_freelist_count), (SELECT page_count FROM pragma_page_count),
			(SELECT page_size FROM pragma_page_size), (SELECT auto_vacuum FROM pragma_auto_vacuum)`
	incremental = 2 // the value of auto_vacuum

	// retainedShare is the share of a file's pages that ReleaseSpace leaves free for new items: one in so many.
	retainedShare = 20
)

func releaseSpace(ctx context.Context, w *writer, bytes int64) (rest int64, err error) {
	var free, pages, size, mode int64
	if err := w.row(ctx, spaceOfFile).Scan(&free, &pages, &size, &mode); err != nil || mode != incremental {
		return 0, err
	}
	free -= pages / retainedShare
	n := min(free, bytes/size)
	if n <= 0 {
		return max(free, 0) * size, nil
	}
	// PRAGMA does not support parameters.
	_, err = w.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, n))
	return (free - n) * size, err
}

const (
	purgedOf = `
		SELECT key, listed FROM purged
		WHERE feed = (SELECT num FROM feeds WHERE id = ?) AND key IN (SELECT value FROM json_each(?))`
	notePurgedListed = `
		UPDATE purged SET listed = ?3
		WHERE feed = (SELECT num FROM feeds WHERE id = ?1) AND key IN (SELECT value FROM json_each(?2))`
)

// addPurgedHashes adds [storage.PurgedHash] for those of the keys without a hash that were purged. It notes that
// they are listed if that was last noted [storage.PurgedKeyRenewal] ago.
func (s retentionStore) addPurgedHashes(ctx context.Context, feedID string, keys []string, hashes map[string]string) error {
	byNumber := storage.KeysWithoutHash(keys, hashes)
	if len(byNumber) == 0 {
		return nil
	}
	today := storage.Day(time.Now())
	var old []int64
	_, err := collect(ctx, s.read, purgedOf, func(row scanner) (number int64, err error) {
		var listed time.Time
		err = row.Scan(&number, nullTime{&listed})
		hashes[byNumber[number]] = storage.PurgedHash
		if today.Sub(listed) >= storage.PurgedKeyRenewal {
			old = append(old, number)
		}
		return number, err
	}, feedID, asJSON(slices.Collect(maps.Keys(byNumber))))
	if err != nil || len(old) == 0 {
		return err
	}
	return s.batchedTransaction(ctx, "note listed keys", func(w *writer) error {
		_, err := w.exec(ctx, notePurgedListed, feedID, asJSON(old), micros(today))
		return err
	})
}

const purgedByNum = `SELECT key FROM purged WHERE feed = ? AND key IN (SELECT value FROM json_each(?))`

// purgedKeys returns the numbers of the items' keys that were purged.
func purgedKeys(ctx context.Context, w *writer, feed int64, items []storage.Item) (map[int64]bool, error) {
	numbers := make([]int64, len(items))
	for i, item := range items {
		numbers[i] = storage.KeyNumber(item.Key)
	}
	purged := map[int64]bool{}
	_, err := collect(ctx, w, purgedByNum, func(row scanner) (number int64, err error) {
		err = row.Scan(&number)
		purged[number] = true
		return number, err
	}, feed, asJSON(numbers))
	return purged, err
}

const (
	deletePurgedOfFeed = `DELETE FROM purged WHERE feed = (SELECT num FROM feeds WHERE id = ?)`
	movePurged         = `
		UPDATE OR REPLACE purged SET feed = (SELECT num FROM feeds WHERE id = ?2)
		WHERE feed = (SELECT num FROM feeds WHERE id = ?1)`
)
