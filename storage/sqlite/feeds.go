package sqlite

import (
	"context"
	"slices"
	"time"

	"feedmesh/storage"
)

const feedColumns = `id, url, title, site, language, tags, added, items, last_item, rate`

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
	INSERT INTO feeds (id, url, title, site, language, tags, added) VALUES (?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO NOTHING`

// AddFeeds implements [storage.Feeds].
func (s *Store) AddFeeds(ctx context.Context, feeds ...storage.Feed) (added []string, err error) {
	err = s.change(ctx, "add feeds", func(w *writer) error {
		for _, f := range feeds {
			tags, err := listOrNull(f.Tags)
			if err != nil {
				return err
			}
			result, err := w.addFeed.ExecContext(ctx, f.ID, f.URL, f.Title, f.Site, f.Language, tags, micros(f.Added))
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil {
				return err
			} else if n > 0 {
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

const (
	freeDuplicates = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', changed = max(?, coalesce(changed, first_seen) + 1)
		WHERE duplicate_of <> '' AND duplicate_of IN (SELECT id FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?))
		RETURNING id`
	removeItems = `DELETE FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?) RETURNING id`
	removeFeed  = `DELETE FROM feeds WHERE id = ? RETURNING id`
)

// RemoveFeed implements [storage.Feeds].
func (s *Store) RemoveFeed(ctx context.Context, id string) (concerned []string, err error) {
	err = s.change(ctx, "remove feed", func(w *writer) error {
		freed, err := collect(ctx, w.freeDuplicates, scanText, micros(time.Now()), id)
		if err != nil {
			return err
		}
		removed, err := collect(ctx, w.removeItems, scanText, id)
		if err != nil {
			return err
		}
		// Some repeated others of their own feed, and are gone as well.
		concerned = append(removed, freed...)
		slices.Sort(concerned)
		concerned = slices.Compact(concerned)
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
	err = row.Scan(&f.ID, &f.URL, &f.Title, &f.Site, &f.Language, list{&f.Tags}, moment{&f.Added},
		&f.Items, moment{&f.LastItem}, &f.Rate)
	return f, err
}
