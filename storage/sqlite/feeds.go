package sqlite

import (
	"context"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

const feedColumns = `id, url, title, site, language, tags, pinned, full_text, request, added, items, last_item, rate,
	spam_threshold, keep, purged, categories, writes`

const feedByID = `SELECT ` + feedColumns + ` FROM feeds WHERE id = ?`

// Feed implements [storage.Feeds].
func (s feedStore) Feed(ctx context.Context, id string) (storage.Feed, error) {
	f, err := scanFeed(s.read.row(ctx, feedByID, id))
	return f, s.wrap(ctx, "read feed", err)
}

const addFeed = `
	INSERT INTO feeds (id, url, title, site, language, tags, pinned, full_text, request, added, spam_threshold, keep, words)
	SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, feed_words(?3, ?2, ?4) WHERE NOT EXISTS (SELECT 1 FROM moved WHERE id = ?1)
	ON CONFLICT (id) DO NOTHING`

// AddFeeds implements [storage.Feeds].
func (s feedStore) AddFeeds(ctx context.Context, feeds ...storage.Feed) ([]string, error) {
	return inTransaction(ctx, s.engine, "add feeds", func(w *writer) (added []string, err error) {
		for _, f := range feeds {
			isNew, err := addFeedRow(ctx, w, f)
			if err != nil {
				return nil, err
			}
			if isNew {
				added = append(added, f.ID)
			}
		}
		return added, nil
	})
}

// add adds a feed unless it is stored already.
func addFeedRow(ctx context.Context, w *writer, f storage.Feed) (isNew bool, err error) {
	return changes(w.exec(ctx, addFeed, f.ID, f.URL, f.Title, f.Site, f.Language, listOrNull(f.Tags),
		f.Pinned, f.FullText, requestOrNull(f.Request), micros(f.Added), f.SpamThreshold, f.Keep))
}

const setFeed = `UPDATE feeds SET tags = ?, pinned = ?, full_text = ?, request = ?, spam_threshold = ?, keep = ? WHERE id = ? RETURNING ` + feedColumns

// SetFeed implements [storage.Feeds].
func (s feedStore) SetFeed(ctx context.Context, id string, settings storage.Settings) (storage.Feed, error) {
	return inTransaction(ctx, s.engine, "set feed", func(w *writer) (storage.Feed, error) {
		return scanFeed(w.row(ctx, setFeed, listOrNull(settings.Tags), settings.Pinned, settings.FullText,
			requestOrNull(settings.Request), settings.SpamThreshold, settings.Keep, id))
	})
}

const (
	freeDuplicates = `
		UPDATE items SET duplicate_of = '', duplicate_by = '', duplicate_score = 0, duplicate_why = '',
			changed = max(?, coalesce(changed, first_seen) + 1)
		WHERE duplicate_of <> '' AND duplicate_of IN (SELECT id FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?))
		RETURNING id, story_id`
	deleteSpamOfFeed = `DELETE FROM spam WHERE feed = (SELECT num FROM feeds WHERE id = ?)`
	// Scan the small table of saved records instead of the feed's items.
	deleteCorrectionsOfFeed = `
		DELETE FROM corrections
		WHERE (SELECT feed FROM items WHERE id = item_id) = (SELECT num FROM feeds WHERE id = ?)`
	deleteSavedLabelsOfFeed = `
		DELETE FROM kept_labels
		WHERE (SELECT feed FROM items WHERE id = item_id) = (SELECT num FROM feeds WHERE id = ?)`
	removeItems     = `DELETE FROM items WHERE feed = (SELECT num FROM feeds WHERE id = ?) RETURNING id`
	deleteRedirects = `DELETE FROM moved WHERE feed = (SELECT num FROM feeds WHERE id = ?)`
	removeFeed      = `DELETE FROM feeds WHERE id = ? RETURNING id`
)

// RemoveFeed implements [storage.Feeds].
func (s feedStore) RemoveFeed(ctx context.Context, id string) ([]string, error) {
	defer s.feedIDs.clear()
	return inTransaction(ctx, s.engine, "remove feed", func(w *writer) (affected []string, err error) {
		freed, err := collect(ctx, w, freeDuplicates, scanPair, micros(time.Now()), id)
		if err != nil {
			return nil, err
		}
		var stories []string
		for _, item := range freed {
			affected, stories = append(affected, item[0]), append(stories, item[1])
		}
		if err := markStoriesDirty(ctx, w, stories); err != nil {
			return nil, err
		}
		if _, err := w.exec(ctx, addDirtyStoriesOfFeed, id); err != nil {
			return nil, err
		}
		for _, stmt := range []string{deleteSpamOfFeed, deleteCorrectionsOfFeed, deleteSavedLabelsOfFeed, deleteMarksOfFeed, deleteAnnotationsOfFeed, deleteSerialsOfFeed, deleteReadUntilOfFeed, deletePurgedOfFeed} {
			if _, err := w.exec(ctx, stmt, id); err != nil {
				return nil, err
			}
		}
		removed, err := collect(ctx, w, removeItems, scanText, id)
		if err != nil {
			return nil, err
		}
		// Duplicates within the feed have been deleted with it.
		affected = append(affected, removed...)
		slices.Sort(affected)
		affected = slices.Compact(affected)
		if _, err := w.exec(ctx, deleteRedirects, id); err != nil {
			return nil, err
		}
		_, err = scanText(w.row(ctx, removeFeed, id))
		return affected, err
	})
}

const idsOfFeeds = `SELECT f.num, f.id FROM json_each(?) n CROSS JOIN feeds f ON f.num = n.value`

// feedIDs caches IDs of feeds by number, some 100 bytes each: to read thousands of them takes longer than to count their
// unread items.
type feedIDs struct {
	mu       sync.Mutex
	byNumber map[int64]string
	removals int // calls of clear
}

// of returns the IDs of feeds by number. Those that were removed are missing.
func (c *feedIDs) of(ctx context.Context, from rowser, numbers []int64) (map[int64]string, error) {
	ids := make(map[int64]string, len(numbers))
	missing := []int64{}
	c.mu.Lock()
	removals := c.removals
	for _, n := range numbers {
		if id, is := c.byNumber[n]; is {
			ids[n] = id
		} else {
			missing = append(missing, n)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return ids, nil
	}
	type feed struct {
		number int64
		id     string
	}
	feeds, err := collect(ctx, from, idsOfFeeds, func(row scanner) (f feed, err error) {
		err = row.Scan(&f.number, &f.id)
		return f, err
	}, asJSON(missing))
	if err != nil {
		return nil, err
	}
	for _, f := range feeds {
		ids[f.number] = f.id
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.removals == removals {
		if c.byNumber == nil {
			c.byNumber = map[int64]string{}
		}
		for _, f := range feeds {
			c.byNumber[f.number] = f.id
		}
	}
	return ids, nil
}

// clear is called after a feed was removed: a feed that is added later may get its number.
func (c *feedIDs) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removals++
	c.byNumber = nil
}

func scanFeed(row scanner) (f storage.Feed, err error) {
	err = row.Scan(&f.ID, &f.URL, &f.Title, &f.Site, &f.Language, fromJSON(&f.Tags), &f.Pinned, &f.FullText, fromJSON(&f.Request),
		nullTime{&f.Added}, &f.Items, nullTime{&f.LastItem}, &f.Rate,
		&f.SpamThreshold, &f.Keep, &f.Purged, fromJSON(&f.Categories), &f.Writes)
	return f, err
}
