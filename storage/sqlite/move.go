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
	return now, s.failed(ctx, "look up feed", err)
}

const (
	mergeFeed = `
		UPDATE feeds SET title = ?1, site = ?2, language = ?3, tags = ?4, pinned = ?5, full_text = ?6, request = ?7, added = ?8, rate = ?9,
			spam_threshold = ?10, categories = ?11, words = feed_words(?1, url, ?2),
			items = (SELECT count(*) FROM items WHERE feed = feeds.num),
			last_item = (SELECT max(published) FROM items WHERE feed = feeds.num)
		WHERE id = ?12`
	passOn = `
		UPDATE moved SET feed = (SELECT num FROM feeds WHERE id = ?2)
		WHERE feed = (SELECT num FROM feeds WHERE id = ?1)`
	standFor = `
		INSERT INTO moved (id, feed) VALUES (?1, (SELECT num FROM feeds WHERE id = ?2))
		ON CONFLICT (id) DO UPDATE SET feed = excluded.feed`
)

// MoveFeed implements [storage.Feeds].
func (s *Store) MoveFeed(ctx context.Context, id, url string) (concerned []string, err error) {
	err = s.change(ctx, "move feed", func(w *writer) error {
		old, err := scanFeed(w.feedByID.QueryRowContext(ctx, id))
		if err != nil || old.URL == url {
			return err
		}
		to, err := w.target(ctx, id, url)
		if err != nil {
			return err
		}
		if _, err := w.markOfFeed.ExecContext(ctx, id); err != nil {
			return err
		}
		repeats, err := w.moveRepeats(ctx, id, to.ID)
		if err != nil {
			return err
		}
		if _, err := w.sayRead.ExecContext(ctx, id, to.ID); err != nil {
			return err
		}
		if _, err := w.forgetReadFeed.ExecContext(ctx, id); err != nil {
			return err
		}
		moved, err := w.moveItems(ctx, id, to.ID)
		if err != nil {
			return err
		}
		concerned = slices.Compact(slices.Sorted(slices.Values(append(moved, repeats...))))
		f := storage.MergeFeeds(to, old)
		_, err = w.merge.ExecContext(ctx, f.Title, f.Site, f.Language, listOrNull(f.Tags), f.Pinned, f.FullText,
			requestOrNull(f.Request), micros(f.Added), f.Rate, f.SpamThreshold, countsOrNull(f.Categories), f.ID)
		if err != nil {
			return err
		}
		if _, err := w.passOn.ExecContext(ctx, id, to.ID); err != nil {
			return err
		}
		if _, err := w.standFor.ExecContext(ctx, id, to.ID); err != nil {
			return err
		}
		_, err = scanText(w.removeFeed.QueryRowContext(ctx, id))
		return err
	})
	if err != nil {
		return nil, err
	}
	return concerned, nil
}

const takeBack = `DELETE FROM moved WHERE id = ? AND feed = (SELECT num FROM feeds WHERE id = ?)`

// target returns the feed that one moves to for a URL, and adds it if need be.
func (w *writer) target(ctx context.Context, id, url string) (to storage.Feed, err error) {
	to = storage.Feed{ID: storage.FeedID(url), URL: url}
	if _, err := w.takeBack.ExecContext(ctx, to.ID, id); err != nil {
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
