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
	return readMap(ctx, s.engine, "read item hashes", func(row pgx.CollectableRow, key, hash *string) error {
		err := row.Scan(key, hash)
		*key = keyOf[*key]
		return err
	}, itemHashes, ids)
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

func scanItem(row pgx.CollectableRow) (i storage.Item, err error) {
	err = row.Scan(destinations(&i, true)...)
	return i, err
}

func scanWithoutHTML(row pgx.CollectableRow) (i storage.Item, err error) {
	err = row.Scan(destinations(&i, false)...)
	return i, err
}

var itemsByID = selectItems + ` WHERE i.id = ANY($1)`

// Items implements [storage.Items].
func (s itemStore) Items(ctx context.Context, ids ...string) ([]storage.Item, error) {
	found, err := read(ctx, s.engine, "read items", scanItem, itemsByID, ids)
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
	return read(ctx, s.engine, "list items", scanItem, itemsByTime, q.Partition, begin, id, until, events, max(limit, 0))
}
