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
func (s *Store) PutItems(ctx context.Context, batch storage.Batch) (stored storage.Stored, err error) {
	err = s.change(ctx, "put items", func(ctx context.Context, tx pgx.Tx) (err error) {
		stored, err = put(ctx, tx, batch)
		return err
	})
	if err != nil {
		return storage.Stored{}, err
	}
	return stored, nil
}

func put(ctx context.Context, tx pgx.Tx, batch storage.Batch) (storage.Stored, error) {
	old, known, err := lockForPut(ctx, tx, batch)
	if err != nil {
		return storage.Stored{}, err
	}
	p := putting{feed: old, known: known, rows: map[string]storage.Item{}}
	for _, item := range batch.Items {
		p.put(item)
	}
	p.feed.says(batch)
	if err := p.feed.countCategories(p.isNew); err != nil {
		return storage.Stored{}, err
	}

	writing := &pgx.Batch{}
	if len(p.rows) > 0 {
		writing.Queue(putItems, clean(itemColumns(old.num, slices.Collect(maps.Values(p.rows)))...)...).Query(p.placed)
	}
	if p.feed != old || p.lastMayBeGone {
		f := p.feed
		writing.Queue(setStatistics, clean(f.num, f.title, f.site, f.language, f.items, f.rate,
			timeOrNull(f.lastItem), p.lastMayBeGone, f.categories, storage.FeedWords(f.title, f.url, f.site))...)
	}
	if err := tx.SendBatch(ctx, writing).Close(); err != nil || len(p.joined) == 0 {
		return p.stored, err
	}
	_, err = tx.Exec(ctx, markJoined, p.joined)
	return p.stored, err
}

// feedRow is what PutItems changes of a feed.
type feedRow struct {
	num                   int32
	url                   string
	title, site, language string
	items                 int64
	lastItem              time.Time
	rate                  float64
	categories            string // JSON, or empty
}

// countCategories counts what new items are about.
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

// says takes over what a document says of its feed.
func (f *feedRow) says(batch storage.Batch) {
	f.title = cmp.Or(cleanText(batch.Title), f.title)
	f.site = cmp.Or(cleanText(batch.Site), f.site)
	f.language = cmp.Or(cleanText(batch.Language), f.language)
	f.rate = cmp.Or(batch.Rate, f.rate)
}

const (
	feedToPut = `SELECT num, url, title, site, language, items, last_item, rate, coalesce(categories::text, '')
		FROM feeds WHERE id = $1 FOR NO KEY UPDATE`
	itemsToPut = `SELECT id, hash, revision, first_seen, published, assumed FROM items WHERE id = ANY($1)`
)

// lockForPut checks the batch's fence, keeps others from writing to its feed and
// from moving events under its fence, and returns what there is of the feed and, by
// ID, of the items: but for their placement, which stays as it is in their rows.
func lockForPut(ctx context.Context, tx pgx.Tx, batch storage.Batch) (feed feedRow, known map[string]storage.Item, err error) {
	reading := &pgx.Batch{}
	var newest int64
	if batch.Fence != (storage.Fence{}) {
		reading.Queue(passShared, gate, gateOf(batch.Fence.Name))
		reading.Queue(newestFence, clean(batch.Fence.Name)...).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&newest}, func() error { return nil })
			return err
		})
	}
	found := false
	reading.Queue(feedToPut, clean(batch.FeedID)...).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&feed.num, &feed.url, &feed.title, &feed.site, &feed.language, &feed.items,
			moment{&feed.lastItem}, &feed.rate, &feed.categories}, func() error { found = true; return nil })
		return err
	})
	known = make(map[string]storage.Item, len(batch.Items))
	ids := column(batch.Items, func(i storage.Item) string { return i.ID })
	reading.Queue(itemsToPut, clean(ids)...).Query(func(rows pgx.Rows) error {
		var i storage.Item
		_, err := pgx.ForEachRow(rows, []any{&i.ID, &i.Hash, &i.Revision, moment{&i.FirstSeen}, moment{&i.Published}, &i.Assumed},
			func() error { known[i.ID] = i; return nil })
		return err
	})
	switch err = tx.SendBatch(ctx, reading).Close(); {
	case err != nil:
	case batch.Fence.Number < newest:
		err = storage.ErrFenced
	case !found:
		err = storage.ErrNotFound
	}
	return feed, known, err
}

// A putting is the work of one PutItems.
type putting struct {
	feed          feedRow
	known         map[string]storage.Item // by ID: of those stored, what a revision has to know
	rows          map[string]storage.Item // by ID: to be written
	stored        storage.Stored
	isNew         []storage.Item
	joined        []string // IDs of stories that they did not begin
	lastMayBeGone bool     // feed.lastItem may be that of no item any more
}

// put notes what becomes of an item.
func (p *putting) put(item storage.Item) {
	old, again := p.known[item.ID]
	if again && old.Hash == item.Hash {
		return
	}
	item.Revision = 1
	_, inBatch := p.rows[item.ID]
	switch {
	case !again:
		p.feed.items++
		p.stored.New = append(p.stored.New, item.ID)
		p.isNew = append(p.isNew, item)
	case !inBatch:
		p.stored.Changed = append(p.stored.Changed, item.ID)
	}
	if again {
		item = storage.Revise(old, item)
		p.lastMayBeGone = p.lastMayBeGone || old.Published.Equal(p.feed.lastItem)
	}
	item.Published = micro(item.Published)
	if item.Published.After(p.feed.lastItem) {
		p.feed.lastItem = item.Published
	}
	p.rows[item.ID], p.known[item.ID] = item, item
}

// placed notes which stories new items joined: those they did not begin.
func (p *putting) placed(rows pgx.Rows) error {
	began := make(map[string]string, len(p.isNew))
	for _, item := range p.isNew {
		began[item.ID] = storage.StoryID(storage.EventID(item.ID))
	}
	var id, story string
	_, err := pgx.ForEachRow(rows, []any{&id, &story}, func() error {
		if own, isNew := began[id]; isNew && story != own && story != "" {
			p.joined = append(p.joined, story)
		}
		return nil
	})
	return err
}

// Where an item joins others and there are none, these are under way, and whoever
// brings them can't see it: without a mark of each other both would be alone. It is
// due when they are there, mostly soon, and at the latest as marks_of says.
const markJoined = `
	INSERT INTO untold (due, story_id)
	SELECT clock_timestamp() + later, story_id
	FROM (SELECT DISTINCT unnest($1::text[])) AS joined (story_id), unnest('{5 seconds, 3 minutes}'::interval[]) AS later
	WHERE (SELECT count(*) FROM (SELECT FROM items WHERE items.story_id = joined.story_id LIMIT 2) AS first) < 2`

// setStatistics looks for the last item, when it must, among those just put.
const setStatistics = `
	UPDATE feeds SET title = $2, site = $3, language = $4, items = $5, rate = $6, categories = nullif($9, '')::json, words = $10,
		last_item = CASE WHEN $8 THEN (SELECT max(published) FROM items WHERE feed = $1) ELSE $7 END
	WHERE num = $1`
