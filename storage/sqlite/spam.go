package sqlite

import (
	"context"
	"math"

	"feedmesh/storage"
)

// CROSS JOIN makes SQLite start with the table before it.
var (
	selectSpam = `SELECT ` + itemColumns + `, s.judged
		FROM spam s CROSS JOIN items i ON i.id = s.item_id CROSS JOIN feeds f ON f.num = i.feed`
	afterSpam    = ` s.judged <= ?1 AND (s.judged < ?1 OR s.item_id > ?2) ORDER BY s.judged DESC, s.item_id LIMIT ?3`
	newestSpam   = selectSpam + ` WHERE` + afterSpam
	newestSpamOf = selectSpam + ` WHERE s.feed = (SELECT num FROM feeds WHERE id = ?4) AND` + afterSpam
	countSpam    = `SELECT count(*) FROM spam`
	countSpamOf  = `SELECT count(*) FROM spam WHERE feed = (SELECT num FROM feeds WHERE id = ?)`
)

const (
	// The ID is that of a stored or relabeled item.
	putSpam = `
		INSERT INTO spam (item_id, feed, judged, score, reasons)
		SELECT id, feed, changed, spam_score, why FROM items WHERE id = ? AND spam
		ON CONFLICT (item_id) DO UPDATE SET score = excluded.score, reasons = excluded.reasons`
	deleteSpamUnlessLabeled = `DELETE FROM spam WHERE item_id = ?1 AND NOT (SELECT spam FROM items WHERE id = ?1)`
)

// updateSpam adds the item to the spam list or removes it, by its label.
func updateSpam(ctx context.Context, w *writer, id string) error {
	if _, err := w.exec(ctx, putSpam, id); err != nil {
		return err
	}
	_, err := w.exec(ctx, deleteSpamUnlessLabeled, id)
	return err
}

// ListSpam implements [storage.Spam].
func (s labelStore) ListSpam(ctx context.Context, q storage.SpamQuery, after storage.SpamItem, limit int) (page []storage.SpamItem, total int64, err error) {
	before := int64(math.MaxInt64)
	if after.ID != "" {
		before = micros(after.Judged)
	}
	list, count, feed := newestSpam, countSpam, []any(nil)
	if q.FeedID != "" {
		list, count, feed = newestSpamOf, countSpamOf, []any{q.FeedID}
	}
	page, err = collect(ctx, s.read, list, func(row scanner) (i storage.SpamItem, err error) {
		err = row.Scan(append(itemFields(&i.Item, true), nullTime{&i.Judged})...)
		return i, err
	}, append([]any{before, after.ID, max(limit, 0)}, feed...)...)
	if err == nil {
		err = s.read.row(ctx, count, feed...).Scan(&total)
	}
	if err != nil {
		return nil, 0, s.wrap(ctx, "list spam", err)
	}
	return page, total, nil
}
