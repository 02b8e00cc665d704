package sqlite

import (
	"context"
	"time"

	"feedmesh/storage"
)

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
