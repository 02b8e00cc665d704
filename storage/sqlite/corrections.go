package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"feedmesh/storage"
)

const (
	correctionColumns       = `item_id, at, person, spam, categories, topics`
	correctionOf            = `SELECT ` + correctionColumns + ` FROM corrections WHERE item_id = ?`
	correctionsByTime       = `SELECT ` + correctionColumns + ` FROM corrections WHERE (at, item_id) > (?, ?) ORDER BY at, item_id LIMIT ?`
	putCorrection           = `INSERT OR REPLACE INTO corrections (` + correctionColumns + `) VALUES (?, ?, ?, ?, ?, ?)`
	deleteCorrection        = `DELETE FROM corrections WHERE item_id = ?`
	deleteSavedLabelsOfItem = `DELETE FROM kept_labels WHERE item_id = ?`
	clearCorrected          = `UPDATE items SET corrected = 0, changed = max(?2, coalesce(changed, first_seen) + 1) WHERE id = ?1 AND corrected`
)

func scanCorrection(row scanner) (c storage.Correction, err error) {
	err = row.Scan(&c.ItemID, nullTime{&c.At}, &c.By, &c.Spam, fromJSON(&c.Categories), fromJSON(&c.Topics))
	return c, err
}

// listUnlessNil returns the stored form of a list, NULL for nil.
func listUnlessNil(list []string) any {
	if list == nil {
		return nil
	}
	return asJSON(list)
}

// Correct implements [storage.Corrections].
func (s *Store) Correct(ctx context.Context, c storage.Correction) (item storage.Item, err error) {
	err = s.transaction(ctx, "correct item", func(w *writer) (err error) {
		item, err = w.correct(ctx, c)
		return err
	})
	return item, err
}

func (w *writer) correct(ctx context.Context, c storage.Correction) (storage.Item, error) {
	item, err := w.item(ctx, c.ItemID)
	if err != nil {
		return storage.Item{}, err
	}
	before, err := scanCorrection(w.correctionOf.QueryRowContext(ctx, c.ItemID))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return storage.Item{}, err
	}
	c = c.Merge(before)
	_, err = w.putCorrection.ExecContext(ctx, c.ItemID, micros(c.At), c.By, c.Spam, listUnlessNil(c.Categories), listUnlessNil(c.Topics))
	if err != nil {
		return storage.Item{}, err
	}
	if _, err := w.deleteSavedLabelsOfItem.ExecContext(ctx, c.ItemID); err != nil {
		return storage.Item{}, err
	}
	if err := w.label(ctx, storage.LabelsOf(c.ApplyTo(item)), true); err != nil {
		return storage.Item{}, err
	}
	return w.item(ctx, c.ItemID)
}

// item returns the item with the given ID, or [storage.ErrNotFound].
func (w *writer) item(ctx context.Context, id string) (storage.Item, error) {
	return storage.FirstItem(collect(ctx, w.items, scanItem, chunkArgs([]string{id})...))
}

// Corrections implements [storage.Corrections].
func (s *Store) Corrections(ctx context.Context, after storage.Correction, limit int) ([]storage.Correction, error) {
	page, err := collect(ctx, s.read.corrections, scanCorrection, micros(after.At), after.ItemID, max(limit, 0))
	return page, s.wrap(ctx, "list corrections", err)
}

// RemoveCorrection implements [storage.Corrections].
func (s *Store) RemoveCorrection(ctx context.Context, itemID string) (item storage.Item, err error) {
	err = s.transaction(ctx, "remove correction", func(w *writer) (err error) {
		if _, err := w.deleteCorrection.ExecContext(ctx, itemID); err != nil {
			return err
		}
		wasCorrected, err := changes(w.clearCorrected.ExecContext(ctx, itemID, micros(time.Now())))
		if err != nil {
			return err
		}
		if wasCorrected {
			if err := w.markStoryOfItemDirty(ctx, itemID); err != nil {
				return err
			}
		}
		item, err = w.item(ctx, itemID)
		return err
	})
	return item, err
}

const deleteSpam = `DELETE FROM spam WHERE item_id = ?`

// inheritRecords copies the correction of a deleted item, unless the item has its own, and its marks, then deletes
// all records of the deleted item.
func (w *writer) inheritRecords(ctx context.Context, id, dropped string) error {
	correction, err := scanCorrection(w.correctionOf.QueryRowContext(ctx, dropped))
	if err == nil {
		_, err = scanCorrection(w.correctionOf.QueryRowContext(ctx, id))
		if errors.Is(err, sql.ErrNoRows) {
			correction.ItemID = id
			_, err = w.correct(ctx, correction)
		}
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, err := w.mergeMarks.ExecContext(ctx, dropped, id); err != nil {
		return err
	}
	for _, drop := range []*sql.Stmt{w.deleteSpam, w.deleteCorrection, w.deleteSavedLabelsOfItem, w.deleteMarksOfItem} {
		if _, err := drop.ExecContext(ctx, dropped); err != nil {
			return err
		}
	}
	return nil
}
