package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	// All writers lock feeds before items, both in order of ID, so that they cannot deadlock.
	shareFeedsOf = `
		SELECT id FROM feeds WHERE num IN (SELECT feed FROM items WHERE id = ANY($1)) ORDER BY id FOR SHARE`
	lockItems = `SELECT id FROM items WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`
)

// lockLabels locks the items with these IDs against changes.
func lockLabels(ctx context.Context, tx pgx.Tx, ids ...string) error {
	statements := &pgx.Batch{}
	statements.Queue(shareFeedsOf, clean(ids)...)
	statements.Queue(lockItems, clean(ids)...)
	return tx.SendBatch(ctx, statements).Close()
}

const uncorrectedLabels = `
	SELECT id, spam, spam_score, flags, categories, topics, why, score, sentiment FROM items
	WHERE id = ANY($1) AND NOT corrected ORDER BY id`

func scanLabels(row pgx.CollectableRow) (l storage.Labels, err error) {
	err = row.Scan(&l.ItemID, &l.Spam, &l.SpamScore, &l.Flags, &l.Categories, &l.Topics, &l.Reasons, &l.Score, &l.Sentiment)
	return l, err
}

const (
	saveLabels = `
		INSERT INTO kept_labels (job, item_id, labels)
		SELECT $1, id, labels::json FROM unnest($2::text[], $3::text[]) AS was (id, labels)
		ON CONFLICT (job, item_id) DO NOTHING`
	setLabels = `
		UPDATE items SET spam = new.spam, spam_score = new.spam_score, flags = new.flags::jsonb, categories = new.categories::jsonb,
			topics = new.topics::jsonb, why = new.why::jsonb, score = new.score, sentiment = new.sentiment,
			corrected = $1, changed = ` + nextChanged + `
		FROM unnest($2::text[], $3::boolean[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::text[], $9::float8[], $10::float8[])
			AS new (id, spam, spam_score, flags, categories, topics, why, score, sentiment)
		WHERE items.id = new.id`
)

// labelColumns returns the arguments of setLabels.
func labelColumns(corrected bool, labels ...storage.Labels) []any {
	return []any{
		corrected,
		column(labels, func(l storage.Labels) string { return l.ItemID }),
		column(labels, func(l storage.Labels) bool { return l.Spam }),
		column(labels, func(l storage.Labels) float64 { return l.SpamScore }),
		column(labels, func(l storage.Labels) *string { return listOrNull(l.Flags) }),
		column(labels, func(l storage.Labels) *string { return listOrNull(l.Categories) }),
		column(labels, func(l storage.Labels) *string { return listOrNull(l.Topics) }),
		column(labels, func(l storage.Labels) *string { return listOrNull(l.Reasons) }),
		column(labels, func(l storage.Labels) float64 { return l.Score }),
		column(labels, func(l storage.Labels) float64 { return l.Sentiment }),
	}
}

// Relabel implements [storage.Relabeling].
func (s labelStore) Relabel(ctx context.Context, job string, labels ...storage.Labels) ([]string, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "relabel items", func(ctx context.Context, tx pgx.Tx) ([]string, error) {
		return relabel(ctx, tx, job, labels)
	})
}

func relabel(ctx context.Context, tx pgx.Tx, job string, labels []storage.Labels) (changed []string, err error) {
	last := map[string]storage.Labels{}
	for _, l := range labels {
		last[cleanText(l.ItemID)] = l
	}
	ids := slices.Sorted(maps.Keys(last))
	if err := lockLabels(ctx, tx, ids...); err != nil {
		return nil, err
	}
	all, err := collect(ctx, tx, scanLabels, uncorrectedLabels, ids)
	if err != nil {
		return nil, err
	}
	var old, updated []storage.Labels
	for _, stored := range all {
		if l := last[stored.ItemID]; !stored.Equal(l) {
			old, updated, changed = append(old, stored), append(updated, l), append(changed, stored.ItemID)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	statements := &pgx.Batch{}
	if job != "" {
		statements.Queue(saveLabels, clean(job, changed, column(old, func(l storage.Labels) string { return *asJSON(l) }))...)
	}
	statements.Queue(setLabels, clean(labelColumns(false, updated...)...)...)
	return changed, tx.SendBatch(ctx, statements).Close()
}

const (
	savedLabels          = `SELECT item_id, labels FROM kept_labels WHERE job = $1 ORDER BY item_id LIMIT $2`
	deleteRestoredLabels = `DELETE FROM kept_labels WHERE job = $1 AND item_id = ANY($2)`
)

// UndoRelabel implements [storage.Relabeling].
func (s labelStore) UndoRelabel(ctx context.Context, job string, limit int) ([]string, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "undo relabel", func(ctx context.Context, tx pgx.Tx) ([]string, error) {
		saved, err := collect(ctx, tx, scanSavedLabels, savedLabels, job, max(limit, 0))
		if err != nil || len(saved) == 0 {
			return nil, err
		}
		if _, err := relabel(ctx, tx, "", saved); err != nil {
			return nil, err
		}
		restored := column(saved, func(l storage.Labels) string { return l.ItemID })
		_, err = tx.Exec(ctx, deleteRestoredLabels, clean(job, restored)...)
		return restored, err
	})
}

// scanSavedLabels returns saved labels with the item's current ID.
func scanSavedLabels(row pgx.CollectableRow) (l storage.Labels, err error) {
	var id string
	err = row.Scan(&id, &l)
	l.ItemID = id
	return l, err
}
