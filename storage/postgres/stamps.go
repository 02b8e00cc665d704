package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

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

func scanStamp(row pgx.CollectableRow) (stamp storage.Stamp, err error) {
	err = row.Scan(&stamp.ID, nullTime{&stamp.Changed})
	return stamp, err
}
