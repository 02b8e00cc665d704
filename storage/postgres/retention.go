package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// isUnprotected is the condition that item i may be purged, see [storage.Retention].
const isUnprotected = `NOT i.corrected AND NOT coalesce(i.flags ? 'starred', false)
		AND NOT EXISTS (SELECT FROM marks WHERE item_id = i.id AND starred)
		AND NOT EXISTS (SELECT FROM annotations WHERE item_id = i.id)
		AND NOT EXISTS (SELECT FROM items d WHERE d.duplicate_of = i.id AND d.duplicate_of <> '')`

const (
	expiredColumns = `i.id, f.id, i.first_seen, i.published, octet_length(i.html)`
	// The index items_by_day has the items in this order. $4 is NULL for all feeds.
	expiredByAge = `
		SELECT ` + expiredColumns + ` FROM items i JOIN feeds f ON f.num = i.feed
		WHERE i.day <= ($1::timestamptz AT TIME ZONE 'UTC')::date AND i.first_seen < $1 AND (i.day, i.id) > ($2::date, $3)
			AND ($4::text[] IS NULL OR f.id = ANY($4)) AND NOT f.id = ANY($5) AND ` + isUnprotected + `
		ORDER BY i.day, i.id LIMIT $6`
	// The index items_by_feed has them in order of publication.
	expiredByNumber = `
		WITH newest AS (SELECT num AS feed FROM feeds WHERE id = $1),
		last AS (
			SELECT published, id FROM items WHERE feed = (SELECT feed FROM newest)
			ORDER BY published DESC, id DESC LIMIT 1 OFFSET $5 - 1
		)
		SELECT ` + expiredColumns + ` FROM items i JOIN feeds f ON f.num = i.feed
		WHERE i.feed = (SELECT feed FROM newest) AND i.first_seen < $2 AND (i.published, i.id) > ($3, $4)
			AND (i.published, i.id) < (SELECT published, id FROM last) AND ` + isUnprotected + `
		ORDER BY i.published, i.id LIMIT $6`
)

// ExpiredItems implements [storage.Retention].
func (s retentionStore) ExpiredItems(ctx context.Context, q storage.ExpiredQuery, after storage.ExpiredItem, limit int) ([]storage.ExpiredItem, error) {
	scan := func(row pgx.CollectableRow) (e storage.ExpiredItem, err error) {
		err = row.Scan(&e.ID, &e.FeedID, nullTime{&e.FirstSeen}, nullTime{&e.Published}, &e.Bytes)
		return e, err
	}
	if q.Newest > 0 && len(q.Feeds) == 1 {
		return read(ctx, s.engine, "list expired items", scan, expiredByNumber,
			q.Feeds[0], micro(q.Before), micro(after.Published), after.ID, q.Newest, max(limit, 0))
	}
	var feeds any
	if q.Feeds != nil {
		feeds = q.Feeds
	}
	return read(ctx, s.engine, "list expired items", scan, expiredByAge,
		micro(q.Before), storage.Day(after.FirstSeen), after.ID, feeds, append([]string{}, q.Except...), max(limit, 0))
}

const (
	// Like PutItems, a purge locks feeds before items, both in order of ID.
	lockFeedsToPurge = `
		SELECT id FROM feeds WHERE num IN (SELECT feed FROM items WHERE id = ANY($1)) ORDER BY id FOR NO KEY UPDATE`
	itemsToPurge = `
		SELECT i.id, i.feed, i.key FROM items i WHERE i.id = ANY($1) AND ` + isUnprotected + ` ORDER BY i.id FOR UPDATE`
	putPurgedKeys = `
		INSERT INTO purged (key, feed, listed) SELECT DISTINCT key, feed, $3::timestamptz FROM unnest($1::bigint[], $2::integer[]) AS gone (key, feed)
		ON CONFLICT (feed, key) DO UPDATE SET listed = excluded.listed`
	deletePurgedMarks   = `DELETE FROM marks WHERE item_id = ANY($1)`
	deletePurgedLabels  = `DELETE FROM kept_labels WHERE item_id = ANY($1)`
	deletePurgedSerials = `DELETE FROM serials WHERE name = ANY($1)`
	deletePurgedItems   = `DELETE FROM items WHERE id = ANY($1)`
	countPurged         = `
		UPDATE feeds SET items = items - n, purged = purged + n
		FROM (SELECT num AS feed, count(*) AS n FROM unnest($1::integer[]) AS gone (num) GROUP BY num) AS counted
		WHERE num = feed`
	forgetKeys = `DELETE FROM purged WHERE feed = ANY($1) AND listed < $2`
)

// PurgeItems implements [storage.Retention].
func (s retentionStore) PurgeItems(ctx context.Context, fence storage.Fence, ids ...string) ([]string, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "purge items", func(ctx context.Context, tx pgx.Tx) ([]string, error) {
		if err := lockFenceShared(ctx, tx, fence); err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, lockFeedsToPurge, clean(ids)...); err != nil {
			return nil, err
		}
		var purged []string
		var feeds []int32
		var keys []int64
		_, err := collect(ctx, tx, func(row pgx.CollectableRow) (nothing struct{}, err error) {
			var id, key string
			var feed int32
			err = row.Scan(&id, &feed, &key)
			purged, feeds, keys = append(purged, id), append(feeds, feed), append(keys, storage.KeyNumber(key))
			return nothing, err
		}, itemsToPurge, ids)
		if err != nil || len(purged) == 0 {
			return nil, err
		}
		today := storage.Day(time.Now())
		statements := &pgx.Batch{}
		statements.Queue(putPurgedKeys, keys, feeds, today)
		for _, statement := range []string{deletePurgedMarks, deletePurgedLabels, deletePurgedSerials, deletePurgedItems} {
			statements.Queue(statement, purged)
		}
		statements.Queue(countPurged, feeds)
		statements.Queue(forgetKeys, feeds, today.Add(-storage.PurgedKeysKept))
		return purged, tx.SendBatch(ctx, statements).Close()
	})
}

// ReleaseSpace implements [storage.Retention]. PostgreSQL uses the space of deleted rows for new ones after autovacuum,
// and shrinks files only by VACUUM FULL, which locks the table: it returns 0.
func (s retentionStore) ReleaseSpace(ctx context.Context, _ int64) (int64, error) {
	return 0, ctx.Err()
}

const (
	purgedOf = `
		SELECT key, listed FROM purged WHERE feed = (SELECT num FROM feeds WHERE id = $1) AND key = ANY($2)`
	notePurgedListed = `
		UPDATE purged SET listed = $3
		WHERE feed = (SELECT num FROM feeds WHERE id = $1 FOR NO KEY UPDATE) AND key = ANY($2)`
)

// addPurgedHashes adds [storage.PurgedHash] for those of the keys without a hash that were purged. It notes that
// they are listed if that was last noted [storage.PurgedKeyRenewal] ago.
func (s itemStore) addPurgedHashes(ctx context.Context, feedID string, keys []string, hashes map[string]string) error {
	byNumber := storage.KeysWithoutHash(keys, hashes)
	if len(byNumber) == 0 {
		return nil
	}
	today := storage.Day(time.Now())
	var old []int64
	_, err := read(ctx, s.engine, "read purged keys", func(row pgx.CollectableRow) (number int64, err error) {
		var listed time.Time
		err = row.Scan(&number, &listed)
		hashes[byNumber[number]] = storage.PurgedHash
		if today.Sub(listed) >= storage.PurgedKeyRenewal {
			old = append(old, number)
		}
		return number, err
	}, purgedOf, feedID, slices.Collect(maps.Keys(byNumber)))
	if err != nil || len(old) == 0 {
		return err
	}
	return s.do(ctx, "note listed keys", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, notePurgedListed, clean(feedID, old, today)...)
		return err
	})
}
