package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

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
