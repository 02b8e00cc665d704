package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const feedFields = `id, url, title, site, language, tags, pinned, full_text, request, added, items, last_item, rate,
	spam_threshold, keep, purged, categories, writes`

const selectFeeds = `SELECT ` + feedFields + ` FROM feeds`

func scanFeed(row pgx.CollectableRow) (f storage.Feed, err error) {
	err = row.Scan(&f.ID, &f.URL, &f.Title, &f.Site, &f.Language, &f.Tags, &f.Pinned, &f.FullText, &f.Request,
		nullTime{&f.Added}, &f.Items, nullTime{&f.LastItem}, &f.Rate,
		&f.SpamThreshold, &f.Keep, &f.Purged, &f.Categories, &f.Writes)
	return f, err
}

// Feed implements [storage.Feeds].
func (s feedStore) Feed(ctx context.Context, id string) (storage.Feed, error) {
	var f storage.Feed
	err := s.do(ctx, "read feed", func(ctx context.Context) (err error) {
		f, err = feedByID(ctx, s.pool, id)
		return err
	})
	return f, err
}

// feedByID returns a feed, or [pgx.ErrNoRows].
func feedByID(ctx context.Context, on querier, id string) (storage.Feed, error) {
	return one(ctx, on, scanFeed, selectFeeds+` WHERE id = $1`, id)
}

// Rows are inserted in order of ID, so that concurrent calls with the same feeds cannot deadlock. ON CONFLICT
// names no column: two calls that add the same feed conflict at its URL or at its ID, depending on which
// index PostgreSQL writes first.
const addFeeds = `
	INSERT INTO feeds (id, url, title, site, language, tags, pinned, full_text, request, added, spam_threshold, keep, words)
	SELECT id, url, title, site, language, tags::jsonb, pinned, full_text, request::json, added, spam_threshold, keep, words
	FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::boolean[],
		$9::text[], $10::timestamptz[], $11::float8[], $12::text[], $13::text[])
		AS new (id, url, title, site, language, tags, pinned, full_text, request, added, spam_threshold, keep, words)
	ORDER BY id
	ON CONFLICT DO NOTHING
	RETURNING id`

// A concurrent MoveFeed of the same feed blocks its insertion until it has moved. Only the next statement
// sees its redirect.
const deleteMovedFeeds = `DELETE FROM feeds WHERE id = ANY($1) AND id IN (SELECT id FROM moved) RETURNING id`

// AddFeeds implements [storage.Feeds].
func (s feedStore) AddFeeds(ctx context.Context, feeds ...storage.Feed) ([]string, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "add feeds", func(ctx context.Context, tx pgx.Tx) (added []string, err error) {
		isNew := map[string]bool{}
		inserted, err := collect(ctx, tx, pgx.RowTo[string], addFeeds, feedColumns(feeds...)...)
		if err != nil {
			return nil, err
		}
		for _, id := range inserted {
			isNew[id] = true
		}
		moved, err := collect(ctx, tx, pgx.RowTo[string], deleteMovedFeeds, inserted)
		for _, id := range moved {
			isNew[id] = false
		}
		for _, f := range feeds {
			if isNew[f.ID] {
				isNew[f.ID] = false
				added = append(added, f.ID)
			}
		}
		return added, err
	})
}

// feedColumns returns the arguments of addFeeds.
func feedColumns(feeds ...storage.Feed) []any {
	return []any{
		column(feeds, func(f storage.Feed) string { return f.ID }),
		column(feeds, func(f storage.Feed) string { return f.URL }),
		column(feeds, func(f storage.Feed) string { return f.Title }),
		column(feeds, func(f storage.Feed) string { return f.Site }),
		column(feeds, func(f storage.Feed) string { return f.Language }),
		column(feeds, func(f storage.Feed) *string { return listOrNull(f.Tags) }),
		column(feeds, func(f storage.Feed) bool { return f.Pinned }),
		column(feeds, func(f storage.Feed) bool { return f.FullText }),
		column(feeds, func(f storage.Feed) *string { return requestOrNull(f.Request) }),
		column(feeds, func(f storage.Feed) time.Time { return f.Added }),
		column(feeds, func(f storage.Feed) float64 { return f.SpamThreshold }),
		column(feeds, func(f storage.Feed) string { return f.Keep }),
		column(feeds, func(f storage.Feed) string { return storage.FeedSearchText(f.Title, f.URL, f.Site) }),
	}
}

const setFeed = `
	UPDATE feeds SET tags = $2, pinned = $3, full_text = $4, request = $5, spam_threshold = $6, keep = $7
	WHERE id = $1 RETURNING ` + feedFields

// SetFeed implements [storage.Feeds].
func (s feedStore) SetFeed(ctx context.Context, id string, settings storage.Settings) (f storage.Feed, err error) {
	err = s.do(ctx, "set feed", func(ctx context.Context) error {
		f, err = one(ctx, s.pool, scanFeed, setFeed, id, listOrNull(settings.Tags), settings.Pinned, settings.FullText,
			requestOrNull(settings.Request), settings.SpamThreshold, settings.Keep)
		return err
	})
	return f, err
}

const (
	lockMovedShared = `LOCK TABLE moved IN ROW EXCLUSIVE MODE` // see lockMoved
	lockFeed        = `SELECT num FROM feeds WHERE id = $1 FOR UPDATE`
	freeDuplicates  = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', duplicate_score = 0, duplicate_why = '', changed = ` + nextChanged + `
		WHERE duplicate_of <> '' AND duplicate_of IN (SELECT id FROM items WHERE feed = $1)
		RETURNING id`
	deleteSavedLabelsOfFeed = `DELETE FROM kept_labels WHERE item_id IN (SELECT id FROM items WHERE feed = $1)`
	deletePurgedOfFeed      = `DELETE FROM purged WHERE feed = $1`
	removeItems             = `DELETE FROM items WHERE feed = $1 RETURNING id`
	deleteRedirects         = `DELETE FROM moved WHERE feed = $1`
	removeFeed              = `DELETE FROM feeds WHERE num = $1`
)

// RemoveFeed implements [storage.Feeds].
func (s feedStore) RemoveFeed(ctx context.Context, id string) ([]string, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "remove feed", func(ctx context.Context, tx pgx.Tx) (affected []string, err error) {
		if _, err := tx.Exec(ctx, lockMovedShared); err != nil {
			return nil, err
		}
		var num int32
		if err := tx.QueryRow(ctx, lockFeed, clean(id)...).Scan(&num); err != nil {
			return nil, err
		}
		freed, err := collect(ctx, tx, pgx.RowTo[string], freeDuplicates, num)
		if err != nil {
			return nil, err
		}
		for _, statement := range []string{deleteSavedLabelsOfFeed, deleteMarksOfFeed, deleteAnnotationsOfFeed, deleteSerialsOfFeed, deleteReadUntilOfFeed, deletePurgedOfFeed} {
			if _, err := tx.Exec(ctx, statement, num); err != nil {
				return nil, err
			}
		}
		removed, err := collect(ctx, tx, pgx.RowTo[string], removeItems, num)
		if err != nil {
			return nil, err
		}
		// Duplicates within the feed have been deleted with it.
		affected = append(removed, freed...)
		slices.Sort(affected)
		affected = slices.Compact(affected)
		if _, err := tx.Exec(ctx, deleteRedirects, num); err != nil {
			return nil, err
		}
		_, err = tx.Exec(ctx, removeFeed, num)
		return affected, err
	})
}
