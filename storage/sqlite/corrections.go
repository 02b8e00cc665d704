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
func (s labelStore) Correct(ctx context.Context, c storage.Correction) (storage.Item, error) {
	return inTransaction(ctx, s.engine, "correct item", func(w *writer) (storage.Item, error) { return correct(ctx, w, c) })
}

func correct(ctx context.Context, w *writer, c storage.Correction) (storage.Item, error) {
	item, err := itemOf(ctx, w, c.ItemID)
	if err != nil {
		return storage.Item{}, err
	}
	before, err := scanCorrection(w.row(ctx, correctionOf, c.ItemID))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return storage.Item{}, err
	}
	c = c.Merge(before)
	_, err = w.exec(ctx, putCorrection, c.ItemID, micros(c.At), c.By, c.Spam, listUnlessNil(c.Categories), listUnlessNil(c.Topics))
	if err != nil {
		return storage.Item{}, err
	}
	if _, err := w.exec(ctx, deleteSavedLabelsOfItem, c.ItemID); err != nil {
		return storage.Item{}, err
	}
	if err := label(ctx, w, storage.LabelsOf(c.ApplyTo(item)), true); err != nil {
		return storage.Item{}, err
	}
	return itemOf(ctx, w, c.ItemID)
}

// item returns the item with the given ID, or [storage.ErrNotFound].
func itemOf(ctx context.Context, w *writer, id string) (storage.Item, error) {
	return storage.FirstItem(collect(ctx, w, itemsByID, scanItems(true), chunkArgs([]string{id})...))
}

// Corrections implements [storage.Corrections].
func (s labelStore) Corrections(ctx context.Context, after storage.Correction, limit int) ([]storage.Correction, error) {
	return read(ctx, s.engine, "list corrections", correctionsByTime, scanCorrection, micros(after.At), after.ItemID, max(limit, 0))
}

// RemoveCorrection implements [storage.Corrections].
func (s labelStore) RemoveCorrection(ctx context.Context, itemID string) (storage.Item, error) {
	return inTransaction(ctx, s.engine, "remove correction", func(w *writer) (item storage.Item, err error) {
		if _, err := w.exec(ctx, deleteCorrection, itemID); err != nil {
			return item, err
		}
		wasCorrected, err := changes(w.exec(ctx, clearCorrected, itemID, micros(time.Now())))
		if err != nil {
			return item, err
		}
		if wasCorrected {
			if err := markStoryOfItemDirty(ctx, w, itemID); err != nil {
				return item, err
			}
		}
		return itemOf(ctx, w, itemID)
	})
}

const deleteSpam = `DELETE FROM spam WHERE item_id = ?`

// inheritRecords copies the correction of a deleted item, unless the item has its own, its marks and annotations, then deletes
// all records of the deleted item.
func inheritRecords(ctx context.Context, w *writer, id, dropped string) error {
	correction, err := scanCorrection(w.row(ctx, correctionOf, dropped))
	if err == nil {
		_, err = scanCorrection(w.row(ctx, correctionOf, id))
		if errors.Is(err, sql.ErrNoRows) {
			correction.ItemID = id
			_, err = correct(ctx, w, correction)
		}
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for _, merge := range []string{mergeMarks, mergeAnnotations} {
		if _, err := w.exec(ctx, merge, dropped, id); err != nil {
			return err
		}
	}
	for _, drop := range []string{deleteSpam, deleteCorrection, deleteSavedLabelsOfItem, deleteMarksOfItem, deleteAnnotationsOfItem, deleteSerial} {
		if _, err := w.exec(ctx, drop, dropped); err != nil {
			return err
		}
	}
	return nil
}
