package sqlite

import (
	"context"
	"slices"
	"time"

	"feedmesh/storage"
)

const (
	oneDay = `86400000000` // in microseconds

	// dayOf is the first moment of an item's day. A % alone rounds times before 1970 up.
	dayOf = `first_seen - (first_seen % ` + oneDay + ` + ` + oneDay + `) % ` + oneDay

	// One look at an index for each day of each lane, and one count.
	countByDay = lanes + `, days (lane, day) AS (
			SELECT lane, (SELECT ` + dayOf + ` FROM items WHERE lane = l.lane ORDER BY first_seen LIMIT 1)
			FROM lanes l WHERE lane IS NOT NULL
			UNION ALL
			SELECT lane, (SELECT ` + dayOf + ` FROM items WHERE lane = d.lane AND first_seen >= d.day + ` + oneDay + ` ORDER BY first_seen LIMIT 1)
			FROM days d WHERE day IS NOT NULL
		)
		SELECT day, sum((SELECT count(*) FROM items WHERE lane = d.lane AND first_seen >= d.day AND first_seen < d.day + ` + oneDay + `))
		FROM days d WHERE day IS NOT NULL GROUP BY day`
)

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

// There is no index of a day's items by ID, as each item put would be written to
// another page of it. So all of a day are read for the first of them.
const stampsOfDay = lanes + `
	SELECT i.id, coalesce(i.changed, i.first_seen)
	FROM lanes l CROSS JOIN items i ON i.lane = l.lane
	WHERE i.first_seen >= ?1 AND i.first_seen < ?1 + ` + oneDay + ` AND i.id > ?2
	ORDER BY i.id LIMIT ?3`

const (
	// stampsAhead is how many stamps are read at once, for the pages to come as
	// well: some 4 MB.
	stampsAhead = 50_000

	// aheadFor is how old what was read ahead may be.
	aheadFor = time.Minute
)

// ahead is what was read ahead of a walk over a day.
type ahead struct {
	day   time.Time
	after string // the ID before the first of stamps
	rest  []storage.Stamp
	last  bool // whether the day has no more
	read  time.Time
}

// take takes the page after an ID, if it was read ahead.
func (a *ahead) take(day time.Time, after string, limit int) (page []storage.Stamp, ok bool) {
	full := len(a.rest) >= limit || a.last
	if !full || !a.day.Equal(day) || a.after != after || time.Since(a.read) > aheadFor {
		return nil, false
	}
	page = slices.Clone(a.rest[:min(limit, len(a.rest))])
	if a.rest = a.rest[len(page):]; len(a.rest) == 0 {
		a.rest = nil
	}
	if len(page) > 0 {
		a.after = page[len(page)-1].ID
	}
	return page, true
}

// Stamps implements [storage.Stamped]. A walk that goes on sees the day as it was
// up to a minute ago.
func (s *Store) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	s.walk.Lock()
	defer s.walk.Unlock()
	limit = max(limit, 0)
	if after != "" {
		if page, ok := s.ahead.take(day, after, limit); ok {
			return page, nil
		}
	}
	size := max(limit, stampsAhead)
	stamps, err := collect(ctx, s.read.stamps, scanStamp, micros(day), after, size)
	if err != nil {
		return nil, s.failed(ctx, "walk over a day", err)
	}
	s.ahead = ahead{day: day, after: after, rest: stamps, last: len(stamps) < size, read: time.Now()}
	page, _ := s.ahead.take(day, after, limit)
	return page, nil
}

func scanStamp(row scanner) (stamp storage.Stamp, err error) {
	err = row.Scan(&stamp.ID, moment{&stamp.Changed})
	return stamp, err
}
