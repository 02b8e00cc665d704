package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

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
