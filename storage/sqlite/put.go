package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"feedmesh/storage"
)

// PutItems implements [storage.Items].
func (s *Store) PutItems(ctx context.Context, batch storage.Batch) (storage.Stored, error) {
	var stored storage.Stored
	err := s.change(ctx, "put items", func(w *writer) error {
		if err := w.checkFence(ctx, batch.Fence); err != nil {
			return err
		}
		feed, err := w.feedRow(ctx, batch.FeedID)
		if err != nil {
			return err
		}
		old := feed
		if stored, err = w.putItems(ctx, &feed, batch.Items); err != nil {
			return err
		}
		feed.title = cmp.Or(batch.Title, feed.title)
		feed.site = cmp.Or(batch.Site, feed.site)
		feed.language = cmp.Or(batch.Language, feed.language)
		feed.rate = cmp.Or(batch.Rate, feed.rate)
		if feed == old {
			return nil // and a transaction that wrote nothing costs no sync
		}
		_, err = w.setFeed.ExecContext(ctx, feed.title, feed.site, feed.language,
			feed.items, microsOrNull(feed.lastItem), feed.rate, feed.num)
		return err
	})
	if err != nil {
		return storage.Stored{}, err
	}
	return stored, nil
}

// feedRow is what PutItems changes of a feed.
type feedRow struct {
	num                   int64
	title, site, language string
	items                 int64
	lastItem              time.Time
	rate                  float64
}

const (
	feedStatistics    = `SELECT num, title, site, language, items, last_item, rate FROM feeds WHERE id = ?`
	setFeedStatistics = `UPDATE feeds SET title = ?, site = ?, language = ?, items = ?, last_item = ?, rate = ? WHERE num = ?`
)

func (w *writer) feedRow(ctx context.Context, id string) (f feedRow, err error) {
	err = w.feed.QueryRowContext(ctx, id).
		Scan(&f.num, &f.title, &f.site, &f.language, &f.items, moment{&f.lastItem}, &f.rate)
	return f, err
}

const lastItem = `SELECT max(published) FROM items WHERE feed = ?`

// putItems stores those of the items that are new or changed, and counts them.
func (w *writer) putItems(ctx context.Context, feed *feedRow, items []storage.Item) (stored storage.Stored, err error) {
	known, err := w.known(ctx, feed.num, items)
	if err != nil {
		return stored, err
	}
	lastMayBeGone := false
	for _, item := range items {
		old, again := known[item.Key]
		if again && old.hash == item.Hash {
			continue
		}
		item.Revision = 1
		if again {
			item = revised(old, item)
			lastMayBeGone = lastMayBeGone || old.published.Equal(feed.lastItem)
		}
		if err := w.put(ctx, feed.num, item); err != nil {
			return stored, err
		}
		switch {
		case !again:
			feed.items++
			stored.New = append(stored.New, item.ID)
		case !old.inBatch:
			stored.Changed = append(stored.Changed, item.ID)
		}
		now := storedItem{item.Hash, item.Revision, item.FirstSeen, micro(item.Published), item.Assumed, true}
		known[item.Key] = now
		if now.published.After(feed.lastItem) {
			feed.lastItem = now.published
		}
	}
	if lastMayBeGone {
		err = w.lastItem.QueryRowContext(ctx, feed.num).Scan(moment{&feed.lastItem})
	}
	return stored, err
}

// A storedItem is what a revision has to know about the item it replaces.
type storedItem struct {
	hash      string
	revision  int
	firstSeen time.Time
	published time.Time
	assumed   string
	inBatch   bool // this batch has put it there, and reported it
}

// revised returns the item as the next revision of old.
func revised(old storedItem, item storage.Item) storage.Item {
	item.Revision, item.FirstSeen = old.revision+1, old.firstSeen
	if item.Assumed != "" {
		item.Published, item.Assumed = old.published, old.assumed
	}
	return item
}

var storedItems = `
	SELECT key, hash, revision, first_seen, published, assumed FROM items
	WHERE feed = ? AND key IN (` + marks + `)`

// known returns what the feed has of the items' keys.
func (w *writer) known(ctx context.Context, feed int64, items []storage.Item) (map[string]storedItem, error) {
	known := make(map[string]storedItem, len(items))
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = item.Key
	}
	scan := func(row scanner) (key string, err error) {
		var i storedItem
		err = row.Scan(&key, &i.hash, &i.revision, moment{&i.firstSeen}, moment{&i.published}, &i.assumed)
		known[key] = i
		return key, err
	}
	for some := range slices.Chunk(keys, chunk) {
		if _, err := collect(ctx, w.storedItems, scan, chunkArgs(some, feed)...); err != nil {
			return nil, err
		}
	}
	return known, nil
}

const putItem = `
	INSERT INTO items (
		feed, key, hash, revision, first_seen, published, assumed, updated,
		id, url, title, author, language, spam,
		lane, text_hash, event_id, story_id, duplicate_of, duplicate_by,
		images, tags, categories, topics, why, excerpt, html, changed
	) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (feed, key) DO UPDATE SET
		hash = excluded.hash, revision = excluded.revision, published = excluded.published,
		assumed = excluded.assumed, updated = excluded.updated, url = excluded.url,
		title = excluded.title, author = excluded.author, language = excluded.language,
		spam = excluded.spam, lane = excluded.lane, text_hash = excluded.text_hash,
		event_id = excluded.event_id, story_id = excluded.story_id,
		duplicate_of = excluded.duplicate_of, duplicate_by = excluded.duplicate_by,
		images = excluded.images, tags = excluded.tags, categories = excluded.categories,
		topics = excluded.topics, why = excluded.why, excerpt = excluded.excerpt, html = excluded.html,
		changed = max(excluded.changed, coalesce(items.changed, items.first_seen) + 1)` // never the same twice

func (w *writer) put(ctx context.Context, feed int64, i storage.Item) error {
	var lists [5]any
	for n, words := range [5][]string{i.Images, i.Tags, i.Categories, i.Topics, i.Why} {
		text, err := listOrNull(words)
		if err != nil {
			return err
		}
		lists[n] = text
	}
	_, err := w.putItem.ExecContext(ctx,
		feed, i.Key, i.Hash, i.Revision, micros(i.FirstSeen), micros(i.Published), i.Assumed, microsOrNull(i.Updated),
		i.ID, i.URL, i.Title, i.Author, i.Language, i.Spam,
		i.Lane, i.TextHash, i.EventID, i.StoryID, i.DuplicateOf, i.DuplicateBy,
		lists[0], lists[1], lists[2], lists[3], lists[4], i.Excerpt, i.HTML, micros(time.Now()))
	return err
}

const newestFence = `SELECT number FROM fences WHERE name = ?`

// checkFence returns [storage.ErrFenced] if a newer fence has been given out.
func (w *writer) checkFence(ctx context.Context, fence storage.Fence) error {
	if fence == (storage.Fence{}) {
		return nil
	}
	var newest int64
	err := w.fence.QueryRowContext(ctx, fence.Name).Scan(&newest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if fence.Number < newest {
		return storage.ErrFenced
	}
	return nil
}

const nextFence = `
	INSERT INTO fences (name, number) VALUES (?, 1)
	ON CONFLICT (name) DO UPDATE SET number = number + 1
	RETURNING number`

// NextFence implements [storage.Fences].
func (s *Store) NextFence(ctx context.Context, name string) (storage.Fence, error) {
	fence := storage.Fence{Name: name}
	err := s.change(ctx, "take a fence", func(w *writer) error {
		return w.nextFence.QueryRowContext(ctx, name).Scan(&fence.Number)
	})
	if err != nil {
		return storage.Fence{}, err
	}
	return fence, nil
}
