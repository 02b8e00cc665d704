package sqlite

import (
	"context"
	"time"

	"feedmesh/storage"
)

// The index items_by_arrival has all of it but when feeds were added, so that no
// item is read. A CROSS JOIN has the engine begin with what is before it.
const arrivals = `
	SELECT i.first_seen, i.published, i.assumed <> '', f.added, i.spam, i.language, i.sentiment, i.categories
	FROM items i CROSS JOIN feeds f ON f.num = i.feed
	WHERE i.first_seen >= ? AND i.first_seen < ?`

// Activity implements [storage.Activities].
func (s *Store) Activity(ctx context.Context, since, until time.Time, zone *time.Location) (storage.Activity, error) {
	tally := storage.NewTally(zone)
	_, err := collect(ctx, s.read.arrivals, func(row scanner) (nothing struct{}, err error) {
		var a storage.Arrival
		err = row.Scan(moment{&a.FirstSeen}, moment{&a.Published}, &a.Assumed, moment{&a.Added}, &a.Spam, &a.Language, &a.Sentiment, fromJSON(&a.Categories))
		tally.Add(a)
		return nothing, err
	}, micros(since), micros(until))
	if err != nil {
		return storage.Activity{}, s.failed(ctx, "count what came", err)
	}
	return tally.Activity(), nil
}
