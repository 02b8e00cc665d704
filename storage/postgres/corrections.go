package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	correctionColumns = `item_id, at, person, spam, categories, topics`
	correctionOf      = `SELECT ` + correctionColumns + ` FROM corrections WHERE item_id = $1`
	correctionsByTime = `SELECT ` + correctionColumns + ` FROM corrections WHERE (at, item_id) > ($1, $2) ORDER BY at, item_id LIMIT $3`
	putCorrection     = `
		INSERT INTO corrections (` + correctionColumns + `) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (item_id) DO UPDATE SET
			at = excluded.at, person = excluded.person, spam = excluded.spam, categories = excluded.categories, topics = excluded.topics`
	deleteSavedLabelsOfItem = `DELETE FROM kept_labels WHERE item_id = $1`
	deleteCorrection        = `DELETE FROM corrections WHERE item_id = $1`
	clearCorrected          = `UPDATE items SET corrected = false, changed = ` + nextChanged + ` WHERE id = $1 AND corrected`
)

func scanCorrection(row pgx.CollectableRow) (c storage.Correction, err error) {
	err = row.Scan(&c.ItemID, nullTime{&c.At}, &c.By, &c.Spam, &c.Categories, &c.Topics)
	return c, err
}

// listUnlessNil returns the stored form of a list, NULL for nil.
func listUnlessNil(list []string) *string {
	if list == nil {
		return nil
	}
	return cleanJSON(list)
}

// Correct implements [storage.Corrections].
func (s labelStore) Correct(ctx context.Context, c storage.Correction) (storage.Item, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "correct item", func(ctx context.Context, tx pgx.Tx) (storage.Item, error) {
		return correct(ctx, tx, c)
	})
}

func correct(ctx context.Context, tx pgx.Tx, c storage.Correction) (item storage.Item, err error) {
	if err := lockLabels(ctx, tx, c.ItemID); err != nil {
		return item, err
	}
	if item, err = itemOf(ctx, tx, c.ItemID); err != nil {
		return item, err
	}
	before, err := one(ctx, tx, scanCorrection, correctionOf, c.ItemID)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return item, err
	}
	c = c.Merge(before)
	writing := &pgx.Batch{}
	writing.Queue(putCorrection, clean(c.ItemID, c.At, c.By, c.Spam, listUnlessNil(c.Categories), listUnlessNil(c.Topics))...)
	writing.Queue(deleteSavedLabelsOfItem, clean(c.ItemID)...)
	writing.Queue(setLabels, clean(labelColumns(true, storage.LabelsOf(c.ApplyTo(item)))...)...)
	if err := tx.SendBatch(ctx, writing).Close(); err != nil {
		return item, err
	}
	return itemOf(ctx, tx, c.ItemID)
}

// itemOf returns the item with the given ID, or [storage.ErrNotFound].
func itemOf(ctx context.Context, tx pgx.Tx, id string) (storage.Item, error) {
	return storage.FirstItem(collect(ctx, tx, scanItems(true), itemsByID, []string{id}))
}

// Corrections implements [storage.Corrections].
func (s labelStore) Corrections(ctx context.Context, after storage.Correction, limit int) ([]storage.Correction, error) {
	return read(ctx, s.engine, "list corrections", scanCorrection, correctionsByTime, after.At, after.ItemID, max(limit, 0))
}

// RemoveCorrection implements [storage.Corrections].
func (s labelStore) RemoveCorrection(ctx context.Context, itemID string) (storage.Item, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "remove correction", func(ctx context.Context, tx pgx.Tx) (item storage.Item, err error) {
		if err := lockLabels(ctx, tx, itemID); err != nil {
			return item, err
		}
		writing := &pgx.Batch{}
		writing.Queue(deleteCorrection, clean(itemID)...)
		writing.Queue(clearCorrected, clean(itemID)...)
		if err := tx.SendBatch(ctx, writing).Close(); err != nil {
			return item, err
		}
		return itemOf(ctx, tx, itemID)
	})
}

// Corrections of items that are deleted in favor of a kept item without a correction.
const correctionsOfDeleted = `
	SELECT kept.id, c.at, c.person, c.spam, c.categories, c.topics
	FROM unnest($1::text[], $2::text[]) AS renaming (old, now)
	JOIN corrections c ON c.item_id = old JOIN items kept ON kept.id = now
	WHERE NOT kept.corrected ORDER BY kept.id`

// inheritCorrections copies the corrections of deleted items to the items kept in their place.
func inheritCorrections(ctx context.Context, tx pgx.Tx, old, now []string) error {
	all, err := collect(ctx, tx, scanCorrection, correctionsOfDeleted, old, now)
	if err != nil {
		return err
	}
	for _, correction := range all {
		if _, err := correct(ctx, tx, correction); err != nil {
			return err
		}
	}
	return nil
}
