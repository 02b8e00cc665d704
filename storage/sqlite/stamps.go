package sqlite

import (
	"context"
	"slices"
	"time"

	"feedmesh/storage"
)

const (
	oneDay = `86400000000` // in microseconds

	// dayOf is the start of an item's day. The % operator alone would round times before 1970 up.
	dayOf = `first_seen - (first_seen % ` + oneDay + ` + ` + oneDay + `) % ` + oneDay

	// One index lookup per day and partition, and one count.
	countByDay = partitions + `, days (lane, day) AS (
			SELECT lane, (SELECT ` + dayOf + ` FROM items WHERE lane = l.lane ORDER BY first_seen LIMIT 1)
			FROM lanes l WHERE lane IS NOT NULL
			UNION ALL
			SELECT lane, (SELECT ` + dayOf + ` FROM items WHERE lane = d.lane AND first_seen >= d.day + ` + oneDay + ` ORDER BY first_seen LIMIT 1)
			FROM days d WHERE day IS NOT NULL
		)
		SELECT day, sum((SELECT count(*) FROM items WHERE lane = d.lane AND first_seen >= d.day AND first_seen < d.day + ` + oneDay + `))
		FROM days d WHERE day IS NOT NULL GROUP BY day`
)

// Days implements [storage.StampReader].
func (s itemStore) Days(ctx context.Context) (map[time.Time]int64, error) {
	return readMap(ctx, s.engine, "count by day", countByDay, func(row scanner, day *time.Time, n *int64) error {
		return row.Scan(nullTime{day}, n)
	})
}

// An index of each day's items by ID would add a random page write to every insert. Without it, each query
// reads all stamps of the day.
const stampsOfDay = partitions + `
	SELECT i.id, coalesce(i.changed, i.first_seen)
	FROM lanes l CROSS JOIN items i ON i.lane = l.lane
	WHERE i.first_seen >= ?1 AND i.first_seen < ?1 + ` + oneDay + ` AND i.id > ?2
	ORDER BY i.id LIMIT ?3`

const (
	// stampBatchSize is the number of stamps per read, a batch of several pages: about 4 MB.
	stampBatchSize = 50_000

	// stampCacheMaxAge is the maximum age of cached stamps.
	stampCacheMaxAge = time.Minute
)

// stampCache caches stamps that were read ahead of the pages of a day.
type stampCache struct {
	day   time.Time
	after string // the ID before the first cached stamp
	rest  []storage.Stamp
	last  bool // the cache contains the end of the day
	read  time.Time
}

// take removes the page after an ID from the cache, if it is complete.
func (a *stampCache) take(day time.Time, after string, limit int) (page []storage.Stamp, ok bool) {
	full := len(a.rest) >= limit || a.last
	if !full || !a.day.Equal(day) || a.after != after || time.Since(a.read) > stampCacheMaxAge {
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

// Stamps implements [storage.StampReader]. Later pages of a day may come from a cache that is up to a minute
// old.
func (s itemStore) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	s.stampsMu.Lock()
	defer s.stampsMu.Unlock()
	limit = max(limit, 0)
	if after != "" {
		if page, ok := s.stampCache.take(day, after, limit); ok {
			return page, nil
		}
	}
	size := max(limit, stampBatchSize)
	stamps, err := read(ctx, s.engine, "read stamps", stampsOfDay, scanStamp, micros(day), after, size)
	if err != nil {
		return nil, err
	}
	s.stampCache = stampCache{day: day, after: after, rest: stamps, last: len(stamps) < size, read: time.Now()}
	page, _ := s.stampCache.take(day, after, limit)
	return page, nil
}

var stampsByID = `SELECT id, changed FROM items WHERE id IN (` + placeholders + `)`

// ItemStamps implements [storage.Items].
func (s itemStore) ItemStamps(ctx context.Context, ids ...string) (stamps []storage.Stamp, err error) {
	for batch := range slices.Chunk(ids, chunkSize) {
		found, err := read(ctx, s.engine, "read stamps of items", stampsByID, scanStamp, chunkArgs(batch)...)
		if err != nil {
			return nil, err
		}
		stamps = append(stamps, found...)
	}
	return stamps, nil
}

func scanStamp(row scanner) (stamp storage.Stamp, err error) {
	err = row.Scan(&stamp.ID, nullTime{&stamp.Changed})
	return stamp, err
}
