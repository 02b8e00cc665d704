package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

// PutItems implements [storage.Items].
func (s itemStore) PutItems(ctx context.Context, batch storage.Batch) (storage.Stored, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "put items", func(ctx context.Context, tx pgx.Tx) (storage.Stored, error) {
		return put(ctx, tx, batch)
	})
}

func put(ctx context.Context, tx pgx.Tx, batch storage.Batch) (storage.Stored, error) {
	old, existing, purged, err := lockForPut(ctx, tx, batch)
	if err != nil {
		return storage.Stored{}, err
	}
	p := putState{feed: old, existing: existing, purged: purged, rows: map[string]storage.Item{}}
	for _, item := range batch.Items {
		p.put(item)
	}
	if len(p.rows) > 0 {
		p.feed.writes++
	}
	p.stored.Writes = p.feed.writes
	p.feed.update(batch)
	if err := p.feed.countCategories(p.isNew); err != nil {
		return storage.Stored{}, err
	}

	statements := &pgx.Batch{}
	if stated := p.statedStories(); len(stated) > 0 {
		statements.Queue(storiesWithoutItems, clean(stated)...).Query(p.withoutItems)
	}
	if len(p.rows) > 0 {
		statements.Queue(putItems, clean(itemColumns(old.num, slices.Collect(maps.Values(p.rows)))...)...).Query(p.placed)
	}
	if p.feed != old || p.lastMayBeGone {
		f := p.feed
		statements.Queue(setStatistics, clean(f.num, f.title, f.site, f.language, f.items, f.rate,
			timeOrNull(f.lastItem), p.lastMayBeGone, f.categories, storage.FeedSearchText(f.title, f.url, f.site), f.writes)...)
	}
	if err := tx.SendBatch(ctx, statements).Close(); err != nil || len(p.joined) == 0 {
		return p.stored, err
	}
	_, err = tx.Exec(ctx, addDirtyStoriesJoined, p.joined)
	return p.stored, err
}

// feedRow contains the columns of a feed that PutItems updates.
type feedRow struct {
	num                   int32
	url                   string
	title, site, language string
	items                 int64
	lastItem              time.Time
	rate                  float64
	categories            string // JSON, or empty
	writes                int64
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
	if counts := countsOrNull(storage.CountCategories(counts, isNew...)); counts != nil {
		f.categories = *counts
	}
	return nil
}

// update updates the row from the fields of a document.
func (f *feedRow) update(batch storage.Batch) {
	f.title = cmp.Or(cleanText(batch.Title), f.title)
	f.site = cmp.Or(cleanText(batch.Site), f.site)
	f.language = cmp.Or(cleanText(batch.Language), f.language)
	f.rate = cmp.Or(batch.Rate, f.rate)
}

const (
	feedToPut = `SELECT num, url, title, site, language, items, last_item, rate, coalesce(categories::text, ''), writes
		FROM feeds WHERE id = $1 FOR NO KEY UPDATE`
	purgedToPut = `SELECT key FROM purged WHERE feed = (SELECT num FROM feeds WHERE id = $1) AND key = ANY($2)`
	itemsToPut  = `SELECT id, hash, revision, first_seen, published, assumed FROM items WHERE id = ANY($1)`
)

// lockForPut checks the batch's fence, locks the feed against other writers and the fence against Rearrange,
// and returns the stored feed, by ID the stored items, and the numbers of the keys that were purged. It does not
// read placements, which stay unchanged.
func lockForPut(ctx context.Context, tx pgx.Tx, batch storage.Batch) (feed feedRow, existing map[string]storage.Item, purged map[int64]bool, err error) {
	queries := &pgx.Batch{}
	var newest int64
	if batch.Fence != (storage.Fence{}) {
		queries.Queue(takeLockShared, fenceLockClass, fenceLockOf(batch.Fence.Name))
		queries.Queue(newestFence, clean(batch.Fence.Name)...).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&newest}, func() error { return nil })
			return err
		})
	}
	found := false
	queries.Queue(feedToPut, clean(batch.FeedID)...).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&feed.num, &feed.url, &feed.title, &feed.site, &feed.language, &feed.items,
			nullTime{&feed.lastItem}, &feed.rate, &feed.categories, &feed.writes}, func() error { found = true; return nil })
		return err
	})
	existing = make(map[string]storage.Item, len(batch.Items))
	ids := column(batch.Items, func(i storage.Item) string { return i.ID })
	queries.Queue(itemsToPut, clean(ids)...).Query(func(rows pgx.Rows) error {
		var i storage.Item
		_, err := pgx.ForEachRow(rows, []any{&i.ID, &i.Hash, &i.Revision, nullTime{&i.FirstSeen}, nullTime{&i.Published}, &i.Assumed},
			func() error { existing[i.ID] = i; return nil })
		return err
	})
	purged = map[int64]bool{}
	numbers := column(batch.Items, func(i storage.Item) int64 { return storage.KeyNumber(i.Key) })
	queries.Queue(purgedToPut, clean(batch.FeedID, numbers)...).Query(func(rows pgx.Rows) error {
		var number int64
		_, err := pgx.ForEachRow(rows, []any{&number}, func() error { purged[number] = true; return nil })
		return err
	})
	switch err = tx.SendBatch(ctx, queries).Close(); {
	case err != nil:
	case batch.Fence.Number < newest:
		err = storage.ErrFenced
	case !found:
		err = storage.ErrNotFound
	}
	return feed, existing, purged, err
}

// A putState is the state of one PutItems call.
type putState struct {
	feed          feedRow
	existing      map[string]storage.Item // by ID: stored items, with the fields that a revision needs
	purged        map[int64]bool          // by number: keys of purged items
	rows          map[string]storage.Item // by ID: items to write
	stored        storage.Stored
	isNew         []storage.Item
	withoutItem   map[string]bool // IDs of stories that new items state, but of which none was stored
	joined        []string        // IDs of stories that new items joined, and whose other items may be in other transactions
	lastMayBeGone bool            // a revised item had the date of feed.lastItem
}

// put adds an item to the rows to write, if it is new or changed.
func (p *putState) put(item storage.Item) {
	old, exists := p.existing[item.ID]
	if exists && old.Hash == item.Hash || !exists && p.purged[storage.KeyNumber(item.Key)] {
		return
	}
	item.Revision = 1
	_, inBatch := p.rows[item.ID]
	switch {
	case !exists:
		p.feed.items++
		p.stored.New = append(p.stored.New, item.ID)
		p.isNew = append(p.isNew, item)
	case !inBatch:
		p.stored.Changed = append(p.stored.Changed, item.ID)
	}
	if exists {
		item = storage.Revise(old, item)
		p.lastMayBeGone = p.lastMayBeGone || old.Published.Equal(p.feed.lastItem)
	}
	item.Published = micro(item.Published)
	if item.Published.After(p.feed.lastItem) {
		p.feed.lastItem = item.Published
	}
	p.rows[item.ID], p.existing[item.ID] = item, item
}

// statedStories returns the IDs of the stories that new items join, but did not start, before moves of their events.
func (p *putState) statedStories() (stories []string) {
	for _, item := range p.isNew {
		if own := storage.StoryID(storage.EventID(item.ID)); item.StoryID != own && item.StoryID != "" {
			stories = append(stories, item.StoryID)
		}
	}
	return stories
}

// withoutItems notes the result of storiesWithoutItems.
func (p *putState) withoutItems(rows pgx.Rows) error {
	p.withoutItem = map[string]bool{}
	var story string
	_, err := pgx.ForEachRow(rows, []any{&story}, func() error {
		p.withoutItem[story] = true
		return nil
	})
	return err
}

// placed collects the stories that new items joined, but did not start, if none of their items was stored before, or if
// they are others than the items state.
func (p *putState) placed(rows pgx.Rows) error {
	stated := make(map[string]storage.Item, len(p.isNew))
	for _, item := range p.isNew {
		stated[item.ID] = item
	}
	var id, story string
	_, err := pgx.ForEachRow(rows, []any{&id, &story}, func() error {
		item, isNew := stated[id]
		mayBeAlone := isNew && story != "" && (p.withoutItem[story] || story != item.StoryID)
		if mayBeAlone && story != storage.StoryID(storage.EventID(id)) {
			p.joined = append(p.joined, story)
		}
		return nil
	})
	return err
}

// storiesWithoutItems must run before the items are written; both are sent in one batch. Were it run after them, a
// concurrent transaction could store the other item between the two: the trigger of the first statement would not see that
// item, and this one would.
const storiesWithoutItems = `
	SELECT DISTINCT story_id FROM unnest($1::text[]) AS stated (story_id)
	WHERE NOT EXISTS (SELECT FROM items WHERE items.story_id = stated.story_id)`

// If an item joins a story whose other items are not stored yet, concurrent transactions are storing them.
// None sees the items of the other, so neither would mark the story dirty. The delayed records become due
// after the other transaction has committed: usually after the first, at the latest after the second; see
// marks_of.
const addDirtyStoriesJoined = `
	INSERT INTO untold (due, story_id)
	SELECT clock_timestamp() + later, story_id
	FROM (SELECT DISTINCT unnest($1::text[])) AS joined (story_id), unnest('{5 seconds, 3 minutes}'::interval[]) AS later`

// setStatistics recomputes last_item, if necessary, from the rows just written.
const setStatistics = `
	UPDATE feeds SET title = $2, site = $3, language = $4, items = $5, rate = $6, categories = nullif($9, '')::json, words = $10, writes = $11,
		last_item = CASE WHEN $8 THEN (SELECT max(published) FROM items WHERE feed = $1) ELSE $7 END
	WHERE num = $1`

const setText = `
	UPDATE items SET html = $2, images = $3, enclosures = $4, text_hash = $5, changed = ` + nextChanged + `
	WHERE id = $1`

// SetText implements [storage.Items].
func (s itemStore) SetText(ctx context.Context, id string, t storage.ItemText) (storage.Item, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "set text", func(ctx context.Context, tx pgx.Tx) (item storage.Item, err error) {
		if err := lockLabels(ctx, tx, id); err != nil {
			return item, err
		}
		if _, err := tx.Exec(ctx, setText, clean(id, t.HTML, listOrNull(t.Images), listOrNull(t.Enclosures), t.TextHash)...); err != nil {
			return item, err
		}
		return itemOf(ctx, tx, id)
	})
}
