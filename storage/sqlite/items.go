package sqlite

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/tables"
)

// chunkSize is the number of keys or IDs of a batch, which is one statement.
const chunkSize = 20

// placeholders contains one placeholder for each key of a batch.
var placeholders = strings.TrimSuffix(strings.Repeat("?,", chunkSize), ",")

// chunkArgs returns the arguments of a statement with placeholders for at most chunk words. Unused
// placeholders are NULL, which equals nothing.
func chunkArgs(words []string, before ...any) []any {
	args := make([]any, len(before)+chunkSize)
	copy(args, before)
	for i, word := range words {
		args[len(before)+i] = word
	}
	return args
}

var itemHashes = `
	SELECT key, hash FROM items
	WHERE feed = (SELECT num FROM feeds WHERE id = ?) AND key IN (` + placeholders + `)`

// ItemHashes implements [storage.Items].
func (s itemStore) ItemHashes(ctx context.Context, feedID string, keys []string) (map[string]string, error) {
	hashes := make(map[string]string, len(keys))
	for batch := range slices.Chunk(keys, chunkSize) {
		pairs, err := collect(ctx, s.read, itemHashes, scanPair, chunkArgs(batch, feedID)...)
		if err != nil {
			return nil, s.wrap(ctx, "read item hashes", err)
		}
		for _, p := range pairs {
			hashes[p[0]] = p[1]
		}
	}
	err := retentionStore(s).addPurgedHashes(ctx, feedID, keys, hashes)
	return hashes, s.wrap(ctx, "read item hashes", err)
}

func scanPair(row scanner) (p [2]string, err error) {
	err = row.Scan(&p[0], &p[1])
	return p, err
}

// Columns of items i and feeds f that itemFields scans, with and without the HTML.
var (
	itemColumns        = storeColumns + tables.ItemNames("i.", true)
	columnsWithoutHTML = storeColumns + tables.ItemNames("i.", false)
	selectItems        = `SELECT ` + itemColumns + ` FROM items i JOIN feeds f ON f.num = i.feed`
)

const storeColumns = `f.id, coalesce(i.changed, i.first_seen), i.corrected, i.clicks, `

// itemFields returns the destinations of itemColumns, or of columnsWithoutHTML.
func itemFields(i *storage.Item, html bool) []any {
	return append([]any{&i.FeedID, nullTime{&i.Changed}, &i.Corrected, &i.Clicks}, destinations(tables.ItemFields(i, html))...)
}

// scanItems returns a function that scans rows of itemColumns, or of columnsWithoutHTML. All its calls use the same
// destinations, which would be most of what a row allocates.
func scanItems(html bool) func(scanner) (storage.Item, error) {
	var item storage.Item
	fields := itemFields(&item, html)
	return func(row scanner) (storage.Item, error) {
		item = storage.Item{}
		err := row.Scan(fields...)
		return item, err
	}
}

var itemsByID = selectItems + ` WHERE i.id IN (` + placeholders + `)`

// Items implements [storage.Items].
func (s itemStore) Items(ctx context.Context, ids ...string) ([]storage.Item, error) {
	var found []storage.Item
	for batch := range slices.Chunk(ids, chunkSize) {
		items, err := collect(ctx, s.read, itemsByID, scanItems(true), chunkArgs(batch)...)
		if err != nil {
			return nil, s.wrap(ctx, "read items", err)
		}
		found = append(found, items...)
	}
	return storage.OrderByIDs(found, ids), nil
}

var (
	fromItemOn    = selectItems + ` WHERE i.lane = ? AND (i.first_seen, i.id) > (?, ?) AND i.first_seen < ?`
	inOrder       = ` ORDER BY i.first_seen, i.id LIMIT ?`
	itemsByTime   = fromItemOn + inOrder
	itemsOfEvents = fromItemOn + ` AND i.event_id IN (SELECT value FROM json_each(?))` + inOrder
)

// ListItems implements [storage.Items].
func (s itemStore) ListItems(ctx context.Context, q storage.ItemQuery, after storage.Item, limit int) ([]storage.Item, error) {
	begin, id := micros(q.From), ""
	if at := micros(after.FirstSeen); at >= begin {
		begin, id = at, after.ID
	}
	until := int64(math.MaxInt64)
	if !q.Until.IsZero() {
		until = micros(q.Until)
	}
	statement, args := itemsByTime, []any{q.Partition, begin, id, until}
	if q.Events != nil {
		statement, args = itemsOfEvents, append(args, asJSON(q.Events))
	}
	return read(ctx, s.engine, "list items", statement, scanItems(true), append(args, max(limit, 0))...)
}

// The index items_by_arrival covers all columns but the feeds' times of addition, so that no item is read.
// CROSS JOIN makes SQLite start with the table before it.
const arrivals = `
	SELECT i.first_seen, i.published, i.assumed <> '', f.added, i.spam, i.language, i.sentiment, i.categories
	FROM items i CROSS JOIN feeds f ON f.num = i.feed
	WHERE i.first_seen >= ? AND i.first_seen < ?`

// Activity implements [storage.Activities].
func (s itemStore) Activity(ctx context.Context, since, until time.Time, zone *time.Location) (storage.Activity, error) {
	tally := storage.NewTally(zone)
	_, err := collect(ctx, s.read, arrivals, func(row scanner) (nothing struct{}, err error) {
		var a storage.Arrival
		err = row.Scan(nullTime{&a.FirstSeen}, nullTime{&a.Published}, &a.Assumed, nullTime{&a.Added}, &a.Spam, &a.Language, &a.Sentiment, fromJSON(&a.Categories))
		tally.Add(a)
		return nothing, err
	}, micros(since), micros(until))
	if err != nil {
		return storage.Activity{}, s.wrap(ctx, "count arriving items", err)
	}
	return tally.Activity(), nil
}
