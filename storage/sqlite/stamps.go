package sqlite

import (
	"context"
	"time"

	"feedmesh/storage"
)

// dayOf is the first moment of an item's day, word for word as items_by_day has
// it: a column computed so would have every item read. A % alone rounds times
// before 1970 up.
const dayOf = `first_seen - (first_seen % 86400000000 + 86400000000) % 86400000000`

const countByDay = `SELECT ` + dayOf + `, count(*) FROM items GROUP BY 1`

// Days implements [storage.Stamped].
func (s *Store) Days(ctx context.Context) (map[time.Time]int64, error) {
	days := map[time.Time]int64{}
	_, err := collect(ctx, s.read.days, func(row scanner) (n int64, err error) {
		var day time.Time
		err = row.Scan(moment{&day}, &n)
		days[day] = n
		return n, err
	})
	if err != nil {
		return nil, s.failed(ctx, "count by day", err)
	}
	return days, nil
}

const stampsOfDay = `
	SELECT id, coalesce(changed, first_seen) FROM items
	WHERE ` + dayOf + ` = ? AND id > ? ORDER BY id LIMIT ?`

// Stamps implements [storage.Stamped].
func (s *Store) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	stamps, err := collect(ctx, s.read.stamps, scanStamp, micros(day), after, max(limit, 0))
	return stamps, s.failed(ctx, "walk over a day", err)
}

func scanStamp(row scanner) (stamp storage.Stamp, err error) {
	err = row.Scan(&stamp.ID, moment{&stamp.Changed})
	return stamp, err
}
