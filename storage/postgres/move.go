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
func (s *Store) ResolveFeed(ctx context.Context, id string) (now string, err error) {
	err = s.do(ctx, "look up feed", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, resolveFeed, clean(id)...).Scan(&now)
	})
	return now, err
}

const (
	// Those who move feeds take turns, also with those who remove some: they
	// change items of any feed, and would lock each other's in every order. So
	// what the table has stays as it is, too.
	lockMoved = `LOCK TABLE moved IN SHARE ROW EXCLUSIVE MODE`

	// Who writes items holds their feed's row locked. All who lock several rows
	// of a table do so in order of ID.
	lockFeeds = `SELECT id, num FROM feeds WHERE id = ANY($1) ORDER BY id FOR UPDATE`
)

// movePatience is for feeds of a million items.
const movePatience = 10 * time.Minute

// MoveFeed implements [storage.Feeds].
func (s *Store) MoveFeed(ctx context.Context, id, url string) (concerned []string, err error) {
	err = s.changeWithin(ctx, movePatience, "move feed", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockMoved); err != nil {
			return err
		}
		concerned = nil
		old, err := feedByID(ctx, tx, id)
		if err != nil || old.URL == url {
			return err
		}
		toID, err := target(ctx, tx, id, url)
		if err != nil {
			return err
		}
		nums, err := lockTwo(ctx, tx, id, toID)
		if err != nil {
			return err
		}
		repeats, err := moveRepeats(ctx, tx, nums[id], toID)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sayRead, nums[id], nums[toID]); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, forgetReadFeed, nums[id]); err != nil {
			return err
		}
		moved, err := moveItems(ctx, tx, nums[id], nums[toID], toID)
		if err != nil {
			return err
		}
		concerned = slices.Compact(slices.Sorted(slices.Values(append(moved, repeats...))))
		return becomeOne(ctx, tx, nums, id, toID)
	})
	if err != nil {
		return nil, err
	}
	return concerned, nil
}

const takeBack = `DELETE FROM moved WHERE id = $1 AND feed = (SELECT num FROM feeds WHERE id = $2)`

// target returns the ID of the feed that one moves to for a URL, and adds it if
// need be.
func target(ctx context.Context, tx pgx.Tx, id, url string) (string, error) {
	to := storage.Feed{ID: storage.FeedID(url), URL: url}
	if _, err := tx.Exec(ctx, takeBack, to.ID, id); err != nil {
		return "", err
	}
	now, err := one(ctx, tx, pgx.RowTo[string], resolveFeed, to.ID)
	if !errors.Is(err, pgx.ErrNoRows) {
		return now, err
	}
	_, err = tx.Exec(ctx, addFeeds, clean(feedColumns(to)...)...)
	return to.ID, err
}

// lockTwo locks two feeds and returns their nums by ID.
func lockTwo(ctx context.Context, tx pgx.Tx, from, to string) (map[string]int32, error) {
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
			spam_threshold = $11, categories = $12, words = $13,
			items = (SELECT count(*) FROM items WHERE feed = $1),
			last_item = (SELECT max(published) FROM items WHERE feed = $1)
		WHERE num = $1`
	passOn   = `UPDATE moved SET feed = $2 WHERE feed = $1`
	standFor = `INSERT INTO moved (id, feed) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET feed = excluded.feed`
)

// becomeOne ends the move of one feed's items to another. Both are locked, with
// the nums given, and read only now that they are.
func becomeOne(ctx context.Context, tx pgx.Tx, nums map[string]int32, from, to string) error {
	old, err := feedByID(ctx, tx, from)
	if err != nil {
		return err
	}
	f, err := feedByID(ctx, tx, to)
	if err != nil {
		return err
	}
	f = storage.MergeFeeds(f, old)
	ending := &pgx.Batch{}
	ending.Queue(mergeFeed, clean(nums[to], f.Title, f.Site, f.Language, listOrNull(f.Tags), f.Pinned, f.FullText,
		requestOrNull(f.Request), f.Added, f.Rate, f.SpamThreshold, countsOrNull(f.Categories),
		storage.FeedWords(f.Title, f.URL, f.Site))...)
	ending.Queue(passOn, nums[from], nums[to])
	ending.Queue(standFor, from, nums[to])
	ending.Queue(removeFeed, nums[from])
	return tx.SendBatch(ctx, ending).Close()
}
