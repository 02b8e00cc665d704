package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	selectSpam = `
		SELECT ` + itemFields + `, s.judged
		FROM spam s JOIN items i ON i.id = s.item_id JOIN feeds f ON f.num = i.feed`
	// $1 is NULL for the first page.
	afterSpam    = ` ($1::timestamptz IS NULL OR s.judged <= $1 AND (s.judged < $1 OR s.item_id > $2)) ORDER BY s.judged DESC, s.item_id LIMIT $3`
	newestSpam   = selectSpam + ` WHERE` + afterSpam
	newestSpamOf = selectSpam + ` WHERE s.feed = (SELECT num FROM feeds WHERE id = $4) AND` + afterSpam
	countSpam    = `SELECT count(*) FROM spam`
	countSpamOf  = `SELECT count(*) FROM spam WHERE feed = (SELECT num FROM feeds WHERE id = $1)`
)

// ListSpam implements [storage.Spam].
func (s *Store) ListSpam(ctx context.Context, q storage.SpamQuery, after storage.SpamItem, limit int) ([]storage.SpamItem, error) {
	statement, args := newestSpam, []any{nil, after.ID, max(limit, 0)}
	if after.ID != "" {
		args[0] = after.Judged
	}
	if q.FeedID != "" {
		statement, args = newestSpamOf, append(args, q.FeedID)
	}
	return read(ctx, s, "list spam", func(row pgx.CollectableRow) (i storage.SpamItem, err error) {
		err = row.Scan(append(destinations(&i.Item), nullTime{&i.Judged})...)
		return i, err
	}, statement, args...)
}

// CountSpam implements [storage.Spam].
func (s *Store) CountSpam(ctx context.Context, q storage.SpamQuery) (n int64, err error) {
	statement, args := countSpam, []any{}
	if q.FeedID != "" {
		statement, args = countSpamOf, []any{q.FeedID}
	}
	err = s.do(ctx, "count spam", func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, statement, clean(args...)...).Scan(&n)
	})
	return n, err
}
