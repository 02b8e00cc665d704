package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
	"feedmesh/storage/tables"
)

const itemHashes = `SELECT id, hash FROM items WHERE id = ANY($1)`

// ItemHashes implements [storage.Items].
func (s itemStore) ItemHashes(ctx context.Context, feedID string, keys []string) (map[string]string, error) {
	ids := make([]string, len(keys))
	keyOf := make(map[string]string, len(keys))
	for i, key := range keys {
		ids[i] = storage.ItemID(feedID, key)
		keyOf[ids[i]] = key
	}
	hashes, err := readMap(ctx, s.engine, "read item hashes", func(row pgx.CollectableRow, key, hash *string) error {
		err := row.Scan(key, hash)
		*key = keyOf[*key]
		return err
	}, itemHashes, ids)
	if err != nil {
		return nil, err
	}
	return hashes, s.addPurgedHashes(ctx, feedID, keys, hashes)
}

// Columns of items i and feeds f that destinations scans, with and without the HTML.
var (
	itemFields        = storeFields + tables.ItemNames("i.", true)
	selectItems       = `SELECT ` + itemFields + fromItems
	selectWithoutHTML = `SELECT ` + storeFields + tables.ItemNames("i.", false) + fromItems
)

const (
	storeFields = `f.id, i.changed, i.corrected, i.clicks, `
	fromItems   = ` FROM items i JOIN feeds f ON f.num = i.feed`
)

// destinations returns the destinations of itemFields, or of those without the HTML.
func destinations(i *storage.Item, html bool) []any {
	return append([]any{&i.FeedID, nullTime{&i.Changed}, &i.Corrected, &i.Clicks}, destinationsOf(tables.ItemFields(i, html))...)
}

// scanItems returns a function that scans rows of itemFields, or of those without the HTML. All its calls use the same
// destinations, which would be most of what a row allocates.
func scanItems(html bool) pgx.RowToFunc[storage.Item] {
	var item storage.Item
	fields := destinations(&item, html)
	return func(row pgx.CollectableRow) (storage.Item, error) {
		item = storage.Item{}
		err := row.Scan(fields...)
		return item, err
	}
}

var itemsByID = selectItems + ` WHERE i.id = ANY($1)`

// Items implements [storage.Items].
func (s itemStore) Items(ctx context.Context, ids ...string) ([]storage.Item, error) {
	found, err := read(ctx, s.engine, "read items", scanItems(true), itemsByID, ids)
	if err != nil {
		return nil, err
	}
	return storage.OrderByIDs(found, ids), nil
}

// $4 and $5 are NULL without a bound and without events.
var itemsByTime = selectItems + `
	WHERE i.lane = $1 AND (i.first_seen, i.id) > ($2, $3) AND ($4::timestamptz IS NULL OR i.first_seen < $4)
		AND ($5::text[] IS NULL OR i.event_id = ANY($5))
	ORDER BY i.first_seen, i.id LIMIT $6`

// ListItems implements [storage.Items].
func (s itemStore) ListItems(ctx context.Context, q storage.ItemQuery, after storage.Item, limit int) ([]storage.Item, error) {
	begin, id := micro(q.From), ""
	if at := micro(after.FirstSeen); !at.Before(begin) {
		begin, id = at, after.ID
	}
	var until *time.Time
	if !q.Until.IsZero() {
		at := micro(q.Until)
		until = &at
	}
	var events any
	if q.Events != nil {
		events = q.Events
	}
	return read(ctx, s.engine, "list items", scanItems(true), itemsByTime, q.Partition, begin, id, until, events, max(limit, 0))
}

const countByDay = `SELECT day, count(*) FROM items GROUP BY day`

// Days implements [storage.StampReader].
func (s itemStore) Days(ctx context.Context) (map[time.Time]int64, error) {
	return readMap(ctx, s.engine, "count by day", func(row pgx.CollectableRow, day *time.Time, n *int64) error {
		return row.Scan(day, n)
	}, countByDay)
}

const stampsOfDay = `SELECT id, changed FROM items WHERE day = $1 AND id > $2 ORDER BY id LIMIT $3`

// Stamps implements [storage.StampReader].
func (s itemStore) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	return read(ctx, s.engine, "read stamps", scanStamp, stampsOfDay, storage.Day(day), after, max(limit, 0))
}

const stampsByID = `SELECT id, changed FROM items WHERE id = ANY($1)`

// ItemStamps implements [storage.Items].
func (s itemStore) ItemStamps(ctx context.Context, ids ...string) ([]storage.Stamp, error) {
	return read(ctx, s.engine, "read stamps of items", scanStamp, stampsByID, ids)
}

func scanStamp(row pgx.CollectableRow) (stamp storage.Stamp, err error) {
	err = row.Scan(&stamp.ID, nullTime{&stamp.Changed})
	return stamp, err
}

// The index items_by_day finds the days; items of a day are stored close together.
const arrivals = `
	SELECT i.first_seen, i.published, i.assumed <> '', f.added, i.spam, i.language, i.sentiment, i.categories
	FROM items i JOIN feeds f ON f.num = i.feed
	WHERE i.day BETWEEN ($1::timestamptz AT TIME ZONE 'UTC')::date AND ($2::timestamptz AT TIME ZONE 'UTC')::date
		AND i.first_seen >= $1 AND i.first_seen < $2`

// Activity implements [storage.Activities].
func (s itemStore) Activity(ctx context.Context, since, until time.Time, zone *time.Location) (sum storage.Activity, err error) {
	err = s.do(ctx, "count arriving items", func(ctx context.Context) error {
		tally := storage.NewTally(zone) // empty again for each retry
		_, err := collect(ctx, s.pool, func(row pgx.CollectableRow) (nothing struct{}, err error) {
			var a storage.Arrival
			err = row.Scan(nullTime{&a.FirstSeen}, nullTime{&a.Published}, &a.Assumed, nullTime{&a.Added}, &a.Spam, &a.Language, &a.Sentiment, &a.Categories)
			tally.Add(a)
			return nothing, err
		}, arrivals, micro(since), micro(until))
		sum = tally.Activity()
		return err
	})
	return sum, err
}
