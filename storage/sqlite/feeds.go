package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"feedmesh/storage"
)

const feedColumns = `id, url, title, site, language, tags, pinned, full_text, request, added, items, last_item, rate,
	spam_threshold, categories`

const feedByID = `SELECT ` + feedColumns + ` FROM feeds WHERE id = ?`

// Feed implements [storage.Feeds].
func (s *Store) Feed(ctx context.Context, id string) (storage.Feed, error) {
	f, err := scanFeed(s.read.feed.QueryRowContext(ctx, id))
	return f, s.failed(ctx, "read feed", err)
}

const feedsByURL = `SELECT ` + feedColumns + ` FROM feeds WHERE url > ? ORDER BY url LIMIT ?`

// ListFeeds implements [storage.Feeds].
func (s *Store) ListFeeds(ctx context.Context, after string, limit int) ([]storage.Feed, error) {
	feeds, err := collect(ctx, s.read.feeds, scanFeed, after, max(limit, 0))
	return feeds, s.failed(ctx, "list feeds", err)
}

const addFeed = `
	INSERT INTO feeds (id, url, title, site, language, tags, pinned, full_text, request, added, spam_threshold, words)
	SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, feed_words(?3, ?2, ?4) WHERE NOT EXISTS (SELECT 1 FROM moved WHERE id = ?1)
	ON CONFLICT (id) DO NOTHING`

// AddFeeds implements [storage.Feeds].
func (s *Store) AddFeeds(ctx context.Context, feeds ...storage.Feed) (added []string, err error) {
	err = s.change(ctx, "add feeds", func(w *writer) error {
		for _, f := range feeds {
			isNew, err := w.add(ctx, f)
			if err != nil {
				return err
			}
			if isNew {
				added = append(added, f.ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return added, nil
}

// add adds a feed unless it is known.
func (w *writer) add(ctx context.Context, f storage.Feed) (isNew bool, err error) {
	return changes(w.addFeed.ExecContext(ctx, f.ID, f.URL, f.Title, f.Site, f.Language, listOrNull(f.Tags),
		f.Pinned, f.FullText, requestOrNull(f.Request), micros(f.Added), f.SpamThreshold))
}

const setFeed = `UPDATE feeds SET tags = ?, pinned = ?, full_text = ?, request = ?, spam_threshold = ? WHERE id = ? RETURNING ` + feedColumns

// SetFeed implements [storage.Feeds].
func (s *Store) SetFeed(ctx context.Context, id string, settings storage.Settings) (f storage.Feed, err error) {
	err = s.change(ctx, "set feed", func(w *writer) error {
		f, err = scanFeed(w.setFeed.QueryRowContext(ctx, listOrNull(settings.Tags), settings.Pinned, settings.FullText,
			requestOrNull(settings.Request), settings.SpamThreshold, id))
		return err
	})
	return f, err
}

const (
	freeDuplicates = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', duplicate_score = 0, duplicate_why = '',
			changed = max(?, coalesce(changed, first_seen) + 1)
		WHERE duplicate_of <> '' AND duplicate_of IN (SELECT id FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?))
		RETURNING id, story_id`
	forgetSpam = `DELETE FROM spam WHERE feed = (SELECT num FROM feeds WHERE id = ?)`
	// By what is kept, of which there is little, and not by the feed's items.
	forgetCorrections = `
		DELETE FROM corrections
		WHERE (SELECT feed FROM items WHERE id = item_id) = (SELECT num FROM feeds WHERE id = ?)`
	forgetKept = `
		DELETE FROM kept_labels
		WHERE (SELECT feed FROM items WHERE id = item_id) = (SELECT num FROM feeds WHERE id = ?)`
	removeItems = `DELETE FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?) RETURNING id`
	forgetMoved = `DELETE FROM moved WHERE feed = (SELECT num FROM feeds WHERE id = ?)`
	removeFeed  = `DELETE FROM feeds WHERE id = ? RETURNING id`
)

// RemoveFeed implements [storage.Feeds].
func (s *Store) RemoveFeed(ctx context.Context, id string) (concerned []string, err error) {
	err = s.change(ctx, "remove feed", func(w *writer) error {
		freed, err := collect(ctx, w.freeDuplicates, scanPair, micros(time.Now()), id)
		if err != nil {
			return err
		}
		var stories []string
		for _, item := range freed {
			concerned, stories = append(concerned, item[0]), append(stories, item[1])
		}
		if err := w.markAll(ctx, stories); err != nil {
			return err
		}
		if _, err := w.markOfFeed.ExecContext(ctx, id); err != nil {
			return err
		}
		for _, forget := range []*sql.Stmt{w.forgetSpam, w.forgetCorrections, w.forgetKept, w.forgetFeedMarks, w.forgetReadFeed} {
			if _, err := forget.ExecContext(ctx, id); err != nil {
				return err
			}
		}
		removed, err := collect(ctx, w.removeItems, scanText, id)
		if err != nil {
			return err
		}
		// Some repeated others of their own feed, and are gone as well.
		concerned = append(concerned, removed...)
		slices.Sort(concerned)
		concerned = slices.Compact(concerned)
		if _, err := w.forgetMoved.ExecContext(ctx, id); err != nil {
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

const counts = `SELECT count(*), coalesce(sum(items), 0) FROM feeds`

// Counts implements [storage.Feeds].
func (s *Store) Counts(ctx context.Context) (storage.Counts, error) {
	var c storage.Counts
	err := s.read.counts.QueryRowContext(ctx).Scan(&c.Feeds, &c.Items)
	return c, s.failed(ctx, "count", err)
}

func scanFeed(row scanner) (f storage.Feed, err error) {
	err = row.Scan(&f.ID, &f.URL, &f.Title, &f.Site, &f.Language, fromJSON(&f.Tags), &f.Pinned, &f.FullText, fromJSON(&f.Request),
		moment{&f.Added}, &f.Items, moment{&f.LastItem}, &f.Rate,
		&f.SpamThreshold, fromJSON(&f.Categories))
	return f, err
}
