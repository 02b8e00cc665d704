package sqlite

import (
	"context"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

var uncorrectedLabels = `
	SELECT id, spam, spam_score, flags, categories, topics, why, score, sentiment FROM items
	WHERE id IN (` + placeholders + `) AND NOT corrected ORDER BY id`

func scanLabels(row scanner) (l storage.Labels, err error) {
	err = row.Scan(&l.ItemID, &l.Spam, &l.SpamScore, fromJSON(&l.Flags), fromJSON(&l.Categories), fromJSON(&l.Topics),
		fromJSON(&l.Reasons), &l.Score, &l.Sentiment)
	return l, err
}

const (
	setLabels = `
		UPDATE items SET spam = ?2, spam_score = ?3, flags = ?4, categories = ?5, topics = ?6, why = ?7, score = ?8, sentiment = ?9,
			corrected = ?10, changed = max(?11, coalesce(changed, first_seen) + 1)
		WHERE id = ?1`
	saveLabels           = `INSERT INTO kept_labels (job, item_id, labels) VALUES (?, ?, ?) ON CONFLICT (job, item_id) DO NOTHING`
	savedLabels          = `SELECT item_id, labels FROM kept_labels WHERE job = ? ORDER BY item_id LIMIT ?`
	deleteRestoredLabels = `DELETE FROM kept_labels WHERE job = ? AND item_id <= ?`
)

// Relabel implements [storage.Relabeling].
func (s labelStore) Relabel(ctx context.Context, job string, labels ...storage.Labels) ([]string, error) {
	return inTransaction(ctx, s.engine, "relabel items", func(w *writer) ([]string, error) { return relabel(ctx, w, job, labels) })
}

func relabel(ctx context.Context, w *writer, job string, labels []storage.Labels) (changed []string, err error) {
	last := map[string]storage.Labels{}
	for _, l := range labels {
		last[l.ItemID] = l
	}
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(last)), chunkSize) {
		stored, err := collect(ctx, w, uncorrectedLabels, scanLabels, chunkArgs(batch)...)
		if err != nil {
			return nil, err
		}
		for _, old := range stored {
			if old.Equal(last[old.ItemID]) {
				continue
			}
			if job != "" {
				if _, err := w.exec(ctx, saveLabels, job, old.ItemID, asJSON(old)); err != nil {
					return nil, err
				}
			}
			if err := label(ctx, w, last[old.ItemID], false); err != nil {
				return nil, err
			}
			changed = append(changed, old.ItemID)
		}
	}
	return changed, nil
}

// label sets the item's labels and whether a user corrected them.
func label(ctx context.Context, w *writer, l storage.Labels, corrected bool) error {
	_, err := w.exec(ctx, setLabels, l.ItemID, l.Spam, l.SpamScore, listOrNull(l.Flags), listOrNull(l.Categories),
		listOrNull(l.Topics), listOrNull(l.Reasons), l.Score, l.Sentiment, corrected, micros(time.Now()))
	if err != nil {
		return err
	}
	if err := updateSpam(ctx, w, l.ItemID); err != nil {
		return err
	}
	return markStoryOfItemDirty(ctx, w, l.ItemID)
}

// UndoRelabel implements [storage.Relabeling].
func (s labelStore) UndoRelabel(ctx context.Context, job string, limit int) ([]string, error) {
	return inTransaction(ctx, s.engine, "undo relabel", func(w *writer) (restored []string, err error) {
		saved, err := collect(ctx, w, savedLabels, scanSavedLabels, job, max(limit, 0))
		if err != nil || len(saved) == 0 {
			return nil, err
		}
		if _, err := relabel(ctx, w, "", saved); err != nil {
			return nil, err
		}
		for _, labels := range saved {
			restored = append(restored, labels.ItemID)
		}
		_, err = w.exec(ctx, deleteRestoredLabels, job, restored[len(restored)-1])
		return restored, err
	})
}

// scanSavedLabels returns saved labels with the item's current ID.
func scanSavedLabels(row scanner) (l storage.Labels, err error) {
	var id string
	err = row.Scan(&id, fromJSON(&l))
	l.ItemID = id
	return l, err
}
