package sqlite

import (
	"context"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

var openLabels = `
	SELECT id, spam, spam_score, flags, categories, topics, why, score, sentiment FROM items
	WHERE id IN (` + marks + `) AND NOT corrected ORDER BY id`

func scanLabels(row scanner) (l storage.Labels, err error) {
	err = row.Scan(&l.ItemID, &l.Spam, &l.SpamScore, fromJSON(&l.Flags), fromJSON(&l.Categories), fromJSON(&l.Topics),
		fromJSON(&l.Why), &l.Score, &l.Sentiment)
	return l, err
}

const (
	setLabels = `
		UPDATE items SET spam = ?2, spam_score = ?3, flags = ?4, categories = ?5, topics = ?6, why = ?7, score = ?8, sentiment = ?9,
			corrected = ?10, changed = max(?11, coalesce(changed, first_seen) + 1)
		WHERE id = ?1`
	keepLabels   = `INSERT INTO kept_labels (job, item_id, labels) VALUES (?, ?, ?) ON CONFLICT (job, item_id) DO NOTHING`
	keptLabels   = `SELECT item_id, labels FROM kept_labels WHERE job = ? ORDER BY item_id LIMIT ?`
	dropKept     = `DELETE FROM kept_labels WHERE job = ? AND item_id <= ?`
	forgetLabels = `DELETE FROM kept_labels WHERE job = ?`
)

// Relabel implements [storage.Relabels].
func (s *Store) Relabel(ctx context.Context, job string, labels ...storage.Labels) (changed []string, err error) {
	err = s.change(ctx, "relabel items", func(w *writer) (err error) {
		changed, err = w.relabel(ctx, job, labels)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changed, nil
}

func (w *writer) relabel(ctx context.Context, job string, labels []storage.Labels) (changed []string, err error) {
	last := map[string]storage.Labels{}
	for _, l := range labels {
		last[l.ItemID] = l
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(last)), chunk) {
		had, err := collect(ctx, w.openLabels, scanLabels, chunkArgs(some)...)
		if err != nil {
			return nil, err
		}
		for _, was := range had {
			if was.Equal(last[was.ItemID]) {
				continue
			}
			if job != "" {
				if _, err := w.keepLabels.ExecContext(ctx, job, was.ItemID, asJSON(was)); err != nil {
					return nil, err
				}
			}
			if err := w.label(ctx, last[was.ItemID], false); err != nil {
				return nil, err
			}
			changed = append(changed, was.ItemID)
		}
	}
	return changed, nil
}

// label gives an item labels, and says whether they are a person's.
func (w *writer) label(ctx context.Context, l storage.Labels, corrected bool) error {
	_, err := w.setLabels.ExecContext(ctx, l.ItemID, l.Spam, l.SpamScore, listOrNull(l.Flags), listOrNull(l.Categories),
		listOrNull(l.Topics), listOrNull(l.Why), l.Score, l.Sentiment, corrected, micros(time.Now()))
	if err != nil {
		return err
	}
	if err := w.keepSpam(ctx, l.ItemID); err != nil {
		return err
	}
	return w.mark(ctx, l.ItemID)
}

// UndoRelabel implements [storage.Relabels].
func (s *Store) UndoRelabel(ctx context.Context, job string, limit int) (restored []string, err error) {
	err = s.change(ctx, "take labels back", func(w *writer) error {
		kept, err := collect(ctx, w.keptLabels, scanKept, job, max(limit, 0))
		if err != nil || len(kept) == 0 {
			return err
		}
		if _, err := w.relabel(ctx, "", kept); err != nil {
			return err
		}
		for _, labels := range kept {
			restored = append(restored, labels.ItemID)
		}
		_, err = w.dropKept.ExecContext(ctx, job, restored[len(restored)-1])
		return err
	})
	if err != nil {
		return nil, err
	}
	return restored, nil
}

// scanKept returns labels of the item as it is called now.
func scanKept(row scanner) (l storage.Labels, err error) {
	var id string
	err = row.Scan(&id, fromJSON(&l))
	l.ItemID = id
	return l, err
}

// ForgetRelabel implements [storage.Relabels].
func (s *Store) ForgetRelabel(ctx context.Context, job string) error {
	return s.change(ctx, "forget labels", func(w *writer) error {
		_, err := w.forgetLabels.ExecContext(ctx, job)
		return err
	})
}
