package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	// Who writes items locks them after their feeds, each in order of ID, so that
	// none waits for another in a circle.
	shareFeedsOf = `
		SELECT id FROM feeds WHERE num IN (SELECT feed FROM items WHERE id = ANY($1)) ORDER BY id FOR SHARE`
	lockItems = `SELECT id FROM items WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE`
)

// lockLabels keeps others from changing the items with these IDs.
func lockLabels(ctx context.Context, tx pgx.Tx, ids ...string) error {
	locking := &pgx.Batch{}
	locking.Queue(shareFeedsOf, clean(ids)...)
	locking.Queue(lockItems, clean(ids)...)
	return tx.SendBatch(ctx, locking).Close()
}

const openLabels = `
	SELECT id, spam, spam_score, flags, categories, topics, why, score, sentiment FROM items
	WHERE id = ANY($1) AND NOT corrected ORDER BY id`

func scanLabels(row pgx.CollectableRow) (l storage.Labels, err error) {
	err = row.Scan(&l.ItemID, &l.Spam, &l.SpamScore, &l.Flags, &l.Categories, &l.Topics, &l.Why, &l.Score, &l.Sentiment)
	return l, err
}

const (
	keepLabels = `
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
		column(labels, func(l storage.Labels) *string { return listOrNull(l.Why) }),
		column(labels, func(l storage.Labels) float64 { return l.Score }),
		column(labels, func(l storage.Labels) float64 { return l.Sentiment }),
	}
}

// Relabel implements [storage.Relabels].
func (s *Store) Relabel(ctx context.Context, job string, labels ...storage.Labels) (changed []string, err error) {
	err = s.change(ctx, "relabel items", func(ctx context.Context, tx pgx.Tx) (err error) {
		changed, err = relabel(ctx, tx, job, labels)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
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
	all, err := collect(ctx, tx, scanLabels, openLabels, ids)
	if err != nil {
		return nil, err
	}
	var had, get []storage.Labels
	for _, was := range all {
		if l := last[was.ItemID]; !was.Equal(l) {
			had, get, changed = append(had, was), append(get, l), append(changed, was.ItemID)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	writing := &pgx.Batch{}
	if job != "" {
		writing.Queue(keepLabels, clean(job, changed, column(had, func(l storage.Labels) string { return *asJSON(l) }))...)
	}
	writing.Queue(setLabels, clean(labelColumns(false, get...)...)...)
	return changed, tx.SendBatch(ctx, writing).Close()
}

const (
	keptLabels = `SELECT item_id, labels FROM kept_labels WHERE job = $1 ORDER BY item_id LIMIT $2`
	dropKept   = `DELETE FROM kept_labels WHERE job = $1 AND item_id = ANY($2)`
)

// UndoRelabel implements [storage.Relabels].
func (s *Store) UndoRelabel(ctx context.Context, job string, limit int) (restored []string, err error) {
	err = s.change(ctx, "take labels back", func(ctx context.Context, tx pgx.Tx) error {
		restored = nil
		kept, err := collect(ctx, tx, scanKept, keptLabels, job, max(limit, 0))
		if err != nil || len(kept) == 0 {
			return err
		}
		if _, err := relabel(ctx, tx, "", kept); err != nil {
			return err
		}
		restored = column(kept, func(l storage.Labels) string { return l.ItemID })
		_, err = tx.Exec(ctx, dropKept, clean(job, restored)...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return restored, nil
}

// scanKept returns labels of the item as it is called now.
func scanKept(row pgx.CollectableRow) (l storage.Labels, err error) {
	var id string
	err = row.Scan(&id, &l)
	l.ItemID = id
	return l, err
}

const forgetLabels = `DELETE FROM kept_labels WHERE job = $1`

// ForgetRelabel implements [storage.Relabels].
func (s *Store) ForgetRelabel(ctx context.Context, job string) error {
	return s.do(ctx, "forget labels", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, forgetLabels, clean(job)...)
		return err
	})
}
