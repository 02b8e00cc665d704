package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const resolveFeed = `
	SELECT id FROM feeds WHERE id = $1
	UNION ALL SELECT f.id FROM moved m JOIN feeds f ON f.num = m.feed WHERE m.id = $1
	LIMIT 1`

// ResolveFeed implements [storage.Feeds].
func (s feedStore) ResolveFeed(ctx context.Context, id string) (now string, err error) {
	err = s.do(ctx, "look up feed", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, resolveFeed, clean(id)...).Scan(&now)
	})
	return now, err
}

const (
	// The lock serializes moves with each other and with removals of feeds. They change items of any feed,
	// and would otherwise deadlock. It also keeps the table's rows unchanged.
	lockMoved = `LOCK TABLE moved IN SHARE ROW EXCLUSIVE MODE`

	// Writers of items hold a lock on their feed's row. All transactions that lock several rows of a table do
	// so in order of ID.
	lockFeeds = `SELECT id, num FROM feeds WHERE id = ANY($1) ORDER BY id FOR UPDATE`
)

// moveTimeout is the timeout of a move, enough for feeds of a million items.
const moveTimeout = 10 * time.Minute

// MoveFeed implements [storage.Feeds].
func (s feedStore) MoveFeed(ctx context.Context, id, url string) ([]string, error) {
	return inTransaction(ctx, s.engine, moveTimeout, "move feed", func(ctx context.Context, tx pgx.Tx) (affected []string, err error) {
		if _, err := tx.Exec(ctx, lockMoved); err != nil {
			return nil, err
		}
		old, err := feedByID(ctx, tx, id)
		if err != nil || old.URL == url {
			return nil, err
		}
		toID, err := moveTarget(ctx, tx, id, url)
		if err != nil {
			return nil, err
		}
		nums, err := lockFeedPair(ctx, tx, id, toID)
		if err != nil {
			return nil, err
		}
		duplicates, err := moveDuplicates(ctx, tx, nums[id], toID)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, addReadMarks, nums[id], nums[toID]); err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, deleteReadUntilOfFeed, nums[id]); err != nil {
			return nil, err
		}
		moved, err := moveItems(ctx, tx, nums[id], nums[toID], toID)
		if err != nil {
			return nil, err
		}
		affected = slices.Compact(slices.Sorted(slices.Values(append(moved, duplicates...))))
		return affected, finishMove(ctx, tx, nums, id, toID)
	})
}

const deleteRedirect = `DELETE FROM moved WHERE id = $1 AND feed = (SELECT num FROM feeds WHERE id = $2)`

// moveTarget returns the ID of the feed that a move to the URL leads to, and adds it if necessary.
func moveTarget(ctx context.Context, tx pgx.Tx, id, url string) (string, error) {
	to := storage.Feed{ID: storage.FeedID(url), URL: url}
	if _, err := tx.Exec(ctx, deleteRedirect, to.ID, id); err != nil {
		return "", err
	}
	now, err := one(ctx, tx, pgx.RowTo[string], resolveFeed, to.ID)
	if !errors.Is(err, pgx.ErrNoRows) {
		return now, err
	}
	_, err = tx.Exec(ctx, addFeeds, clean(feedColumns(to)...)...)
	return to.ID, err
}

// lockFeedPair locks two feeds and returns their nums by ID.
func lockFeedPair(ctx context.Context, tx pgx.Tx, from, to string) (map[string]int32, error) {
	nums := map[string]int32{}
	_, err := collect(ctx, tx, func(row pgx.CollectableRow) (id string, err error) {
		var num int32
		err = row.Scan(&id, &num)
		nums[id] = num
		return id, err
	}, lockFeeds, []string{from, to})
	return nums, err
}

const (
	mergeFeed = `
		UPDATE feeds SET title = $2, site = $3, language = $4, tags = $5, pinned = $6, full_text = $7, request = $8, added = $9, rate = $10,
			spam_threshold = $11, categories = $12, words = $13, keep = $14, purged = $15,
			items = (SELECT count(*) FROM items WHERE feed = $1),
			last_item = (SELECT max(published) FROM items WHERE feed = $1)
		WHERE num = $1`
	movePurged = `
		INSERT INTO purged (key, feed, listed) SELECT key, $2, listed FROM purged WHERE feed = $1
		ON CONFLICT (feed, key) DO UPDATE SET listed = greatest(purged.listed, excluded.listed)`
	moveRedirects = `UPDATE moved SET feed = $2 WHERE feed = $1`
	putRedirect   = `INSERT INTO moved (id, feed) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET feed = excluded.feed`
)

// finishMove merges the old feed into the new one and removes it. Both are locked, and read only after
// locking.
func finishMove(ctx context.Context, tx pgx.Tx, nums map[string]int32, from, to string) error {
	old, err := feedByID(ctx, tx, from)
	if err != nil {
		return err
	}
	f, err := feedByID(ctx, tx, to)
	if err != nil {
		return err
	}
	f = storage.MergeFeeds(f, old)
	statements := &pgx.Batch{}
	statements.Queue(mergeFeed, clean(nums[to], f.Title, f.Site, f.Language, listOrNull(f.Tags), f.Pinned, f.FullText,
		requestOrNull(f.Request), f.Added, f.Rate, f.SpamThreshold, countsOrNull(f.Categories),
		storage.FeedSearchText(f.Title, f.URL, f.Site), f.Keep, f.Purged)...)
	statements.Queue(movePurged, nums[from], nums[to])
	statements.Queue(deletePurgedOfFeed, nums[from])
	statements.Queue(moveRedirects, nums[from], nums[to])
	statements.Queue(putRedirect, from, nums[to])
	statements.Queue(renameSerialOfFeed, from, to)
	statements.Queue(deleteSerialOfFeed, from)
	statements.Queue(removeFeed, nums[from])
	return tx.SendBatch(ctx, statements).Close()
}
