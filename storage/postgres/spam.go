package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

var (
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
func (s labelStore) ListSpam(ctx context.Context, q storage.SpamQuery, after storage.SpamItem, limit int) (page []storage.SpamItem, total int64, err error) {
	list, count, feed := newestSpam, countSpam, []any(nil)
	if q.FeedID != "" {
		list, count, feed = newestSpamOf, countSpamOf, []any{q.FeedID}
	}
	var before any
	if after.ID != "" {
		before = after.Judged
	}
	err = s.do(ctx, "list spam", func(ctx context.Context) error {
		page, err = collect(ctx, s.pool, func(row pgx.CollectableRow) (i storage.SpamItem, err error) {
			err = row.Scan(append(destinations(&i.Item, true), nullTime{&i.Judged})...)
			return i, err
		}, list, append([]any{before, after.ID, max(limit, 0)}, feed...)...)
		if err == nil {
			total, err = one(ctx, s.pool, pgx.RowTo[int64], count, feed...)
		}
		return err
	})
	return page, total, err
}
