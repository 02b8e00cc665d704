package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/tables"
)

// PutItems implements [storage.Items].
func (s itemStore) PutItems(ctx context.Context, batch storage.Batch) (storage.Stored, error) {
	var stored storage.Stored
	err := s.batchedTransaction(ctx, "put items", func(w *writer) error {
		if err := checkFence(ctx, w, batch.Fence); err != nil {
			return err
		}
		feed, err := readFeedRow(ctx, w, batch.FeedID)
		if err != nil {
			return err
		}
		old := feed
		if stored, err = putItems(ctx, w, &feed, batch.Items); err != nil {
			return err
		}
		if len(stored.New)+len(stored.Changed) > 0 {
			feed.writes++
		}
		stored.Writes = feed.writes
		feed.title = cmp.Or(batch.Title, feed.title)
		feed.site = cmp.Or(batch.Site, feed.site)
		feed.language = cmp.Or(batch.Language, feed.language)
		feed.rate = cmp.Or(batch.Rate, feed.rate)
		return setFeedRow(ctx, w, old, feed)
	})
	if err != nil {
		return storage.Stored{}, err
	}
	return stored, nil
}

// feedRow contains the columns of a feed that PutItems updates.
type feedRow struct {
	num                   int64
	title, site, language string
	items                 int64
	lastItem              time.Time
	rate                  float64
	categories            string // JSON, or empty
	writes                int64
}

const (
	feedStatistics    = `SELECT num, title, site, language, items, last_item, rate, coalesce(categories, ''), writes FROM feeds WHERE id = ?`
	setFeedStatistics = `UPDATE feeds SET items = ?, last_item = ?, rate = ?, categories = nullif(?, ''), writes = ? WHERE num = ?`
	setFeedWords      = `UPDATE feeds SET title = ?1, site = ?2, language = ?3, words = feed_words(?1, url, ?2) WHERE num = ?4`
)

func readFeedRow(ctx context.Context, w *writer, id string) (f feedRow, err error) {
	err = w.row(ctx, feedStatistics, id).
		Scan(&f.num, &f.title, &f.site, &f.language, &f.items, nullTime{&f.lastItem}, &f.rate, &f.categories, &f.writes)
	return f, err
}

// setFeedRow updates the feed's row if it changed; a transaction without writes needs no sync. The search
// text has its own statement, because writing it updates its index even if it is unchanged.
func setFeedRow(ctx context.Context, w *writer, old, now feedRow) error {
	if now.title != old.title || now.site != old.site || now.language != old.language {
		if _, err := w.exec(ctx, setFeedWords, now.title, now.site, now.language, now.num); err != nil {
			return err
		}
		old.title, old.site, old.language = now.title, now.site, now.language
	}
	if now == old {
		return nil
	}
	_, err := w.exec(ctx, setFeedStatistics, now.items, microsOrNull(now.lastItem), now.rate, now.categories, now.writes, now.num)
	return err
}

// countCategories adds the categories of new items to the feed's counts.
func (f *feedRow) countCategories(isNew []storage.Item) error {
	if len(isNew) == 0 {
		return nil
	}
	var counts map[string]float64
	if f.categories != "" {
		if err := json.Unmarshal([]byte(f.categories), &counts); err != nil {
			return err
		}
	}
	if counts = storage.CountCategories(counts, isNew...); len(counts) > 0 {
		f.categories = asJSON(counts)
	}
	return nil
}

const lastItem = `SELECT max(published) FROM items WHERE feed = ?`

// putItems stores the new and changed items, and counts them.
func putItems(ctx context.Context, w *writer, feed *feedRow, items []storage.Item) (stored storage.Stored, err error) {
	byKey, err := storedByKey(ctx, w, feed.num, items)
	if err != nil {
		return stored, err
	}
	purged, err := purgedKeys(ctx, w, feed.num, items)
	if err != nil {
		return stored, err
	}
	moved, err := movedStories(ctx, w, items)
	if err != nil {
		return stored, err
	}
	written := map[string]bool{} // keys already reported for this batch
	var isNew []storage.Item
	var stories []string
	lastMayBeGone := false
	for _, item := range items {
		old, exists := byKey[item.Key]
		if exists && old.Hash == item.Hash || !exists && purged[storage.KeyNumber(item.Key)] {
			continue
		}
		item.Revision = 1
		if exists {
			item = storage.Revise(old, item)
			lastMayBeGone = lastMayBeGone || old.Published.Equal(feed.lastItem)
		} else if story, ok := moved[item.EventID]; ok {
			item.StoryID = story
		}
		if err := put(ctx, w, feed.num, item, old.Spam, !exists); err != nil {
			return stored, err
		}
		if item.StoryID != "" {
			stories = append(stories, item.StoryID)
		}
		switch {
		case !exists:
			feed.items++
			stored.New = append(stored.New, item.ID)
			isNew = append(isNew, item)
		case !written[item.Key]:
			stored.Changed = append(stored.Changed, item.ID)
		}
		item.Published = micro(item.Published)
		byKey[item.Key], written[item.Key] = item, true
		if item.Published.After(feed.lastItem) {
			feed.lastItem = item.Published
		}
	}
	if err := markStoriesDirty(ctx, w, stories); err != nil {
		return stored, err
	}
	if err := feed.countCategories(isNew); err != nil {
		return stored, err
	}
	if lastMayBeGone {
		err = w.row(ctx, lastItem, feed.num).Scan(nullTime{&feed.lastItem})
	}
	return stored, err
}

var storedItems = `
	SELECT key, hash, revision, first_seen, published, assumed, spam, story_id FROM items
	WHERE feed = ? AND key IN (` + placeholders + `)`

// storedByKey returns, by key, the fields of stored items that the next revision needs. Of the placement it reads
// only the story, because putItem leaves the placement unchanged.
func storedByKey(ctx context.Context, w *writer, feed int64, items []storage.Item) (map[string]storage.Item, error) {
	stored := make(map[string]storage.Item, len(items))
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = item.Key
	}
	scan := func(row scanner) (key string, err error) {
		var i storage.Item
		err = row.Scan(&i.Key, &i.Hash, &i.Revision, nullTime{&i.FirstSeen}, nullTime{&i.Published}, &i.Assumed, &i.Spam, &i.StoryID)
		stored[i.Key] = i
		return i.Key, err
	}
	for some := range slices.Chunk(keys, chunkSize) {
		if _, err := collect(ctx, w, storedItems, scan, chunkArgs(some, feed)...); err != nil {
			return nil, err
		}
	}
	return stored, nil
}

// putItem sets Changed to a value that is unique for the item.
var putItem = `
	INSERT INTO items (feed, changed, ` + tables.ItemNames("", true) + `)
	VALUES (?, ?` + strings.Repeat(", ?", len(storage.ItemColumns(&storage.Item{}))) + `)
	ON CONFLICT (feed, key) DO UPDATE SET ` + tables.ItemUpdates() + `,
		changed = max(excluded.changed, coalesce(items.changed, items.first_seen) + 1)`

// put writes an item, and what other tables derive from it.
func put(ctx context.Context, w *writer, feed int64, i storage.Item, wasSpam, isNew bool) error {
	args := []any{feed, micros(time.Now())}
	for _, column := range storage.ItemColumns(&i) {
		args = append(args, columnValue(column.Column))
	}
	_, err := w.exec(ctx, putItem, args...)
	if err == nil && (wasSpam || i.Spam) {
		err = updateSpam(ctx, w, i.ID)
	}
	if err == nil && isNew {
		err = addEventStory(ctx, w, i.EventID, i.StoryID)
	}
	return err
}

const setText = `
	UPDATE items SET html = ?2, images = ?3, enclosures = ?4, text_hash = ?5, changed = max(?6, coalesce(changed, first_seen) + 1)
	WHERE id = ?1`

// SetText implements [storage.Items].
func (s itemStore) SetText(ctx context.Context, id string, t storage.ItemText) (storage.Item, error) {
	return inTransaction(ctx, s.engine, "set text", func(w *writer) (item storage.Item, err error) {
		if _, err := w.exec(ctx, setText, id, t.HTML, listOrNull(t.Images), listOrNull(t.Enclosures), t.TextHash, micros(time.Now())); err != nil {
			return item, err
		}
		if err := markStoryOfItemDirty(ctx, w, id); err != nil {
			return item, err
		}
		return itemOf(ctx, w, id)
	})
}
