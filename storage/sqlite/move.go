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
func (s *Store) ResolveFeed(ctx context.Context, id string) (string, error) {
	now, err := scanText(s.read.resolve.QueryRowContext(ctx, id))
	return now, s.wrap(ctx, "look up feed", err)
}

const (
	mergeFeed = `
		UPDATE feeds SET title = ?1, site = ?2, language = ?3, tags = ?4, pinned = ?5, full_text = ?6, request = ?7, added = ?8, rate = ?9,
			spam_threshold = ?10, categories = ?11, words = feed_words(?1, url, ?2),
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
func (s *Store) MoveFeed(ctx context.Context, id, url string) (affected []string, err error) {
	err = s.transaction(ctx, "move feed", func(w *writer) error {
		old, err := scanFeed(w.feedByID.QueryRowContext(ctx, id))
		if err != nil || old.URL == url {
			return err
		}
		to, err := w.moveTarget(ctx, id, url)
		if err != nil {
			return err
		}
		if _, err := w.addDirtyStoriesOfFeed.ExecContext(ctx, id); err != nil {
			return err
		}
		duplicates, err := w.moveDuplicates(ctx, id, to.ID)
		if err != nil {
			return err
		}
		if _, err := w.addReadMarks.ExecContext(ctx, id, to.ID); err != nil {
			return err
		}
		if _, err := w.deleteReadUntilOfFeed.ExecContext(ctx, id); err != nil {
			return err
		}
		moved, err := w.moveItems(ctx, id, to.ID)
		if err != nil {
			return err
		}
		affected = slices.Compact(slices.Sorted(slices.Values(append(moved, duplicates...))))
		f := storage.MergeFeeds(to, old)
		_, err = w.merge.ExecContext(ctx, f.Title, f.Site, f.Language, listOrNull(f.Tags), f.Pinned, f.FullText,
			requestOrNull(f.Request), micros(f.Added), f.Rate, f.SpamThreshold, countsOrNull(f.Categories), f.ID)
		if err != nil {
			return err
		}
		if _, err := w.moveRedirects.ExecContext(ctx, id, to.ID); err != nil {
			return err
		}
		if _, err := w.putRedirect.ExecContext(ctx, id, to.ID); err != nil {
			return err
		}
		_, err = scanText(w.removeFeed.QueryRowContext(ctx, id))
		return err
	})
	if err != nil {
		return nil, err
	}
	return affected, nil
}

const deleteRedirect = `DELETE FROM moved WHERE id = ? AND feed = (SELECT num FROM feeds WHERE id = ?)`

// moveTarget returns the feed that a move to the URL leads to, and adds it if necessary.
func (w *writer) moveTarget(ctx context.Context, id, url string) (to storage.Feed, err error) {
	to = storage.Feed{ID: storage.FeedID(url), URL: url}
	if _, err := w.deleteRedirect.ExecContext(ctx, to.ID, id); err != nil {
		return to, err
	}
	now, err := scanText(w.resolve.QueryRowContext(ctx, to.ID))
	if errors.Is(err, sql.ErrNoRows) {
		_, err = w.add(ctx, to)
		return to, err
	}
	if err != nil {
		return to, err
	}
	return scanFeed(w.feedByID.QueryRowContext(ctx, now))
}
