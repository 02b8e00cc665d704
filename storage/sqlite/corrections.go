package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"feedmesh/storage"
)

const (
	correctionColumns = `item_id, at, person, spam, categories, topics`
	correctionOf      = `SELECT ` + correctionColumns + ` FROM corrections WHERE item_id = ?`
	correctionsByTime = `SELECT ` + correctionColumns + ` FROM corrections WHERE (at, item_id) > (?, ?) ORDER BY at, item_id LIMIT ?`
	putCorrection     = `INSERT OR REPLACE INTO corrections (` + correctionColumns + `) VALUES (?, ?, ?, ?, ?, ?)`
	dropCorrection    = `DELETE FROM corrections WHERE item_id = ?`
	forgetKeptOf      = `DELETE FROM kept_labels WHERE item_id = ?`
	uncorrect         = `UPDATE items SET corrected = 0, changed = max(?2, coalesce(changed, first_seen) + 1) WHERE id = ?1 AND corrected`
)

func scanCorrection(row scanner) (c storage.Correction, err error) {
	err = row.Scan(&c.ItemID, moment{&c.At}, &c.By, &c.Spam, fromJSON(&c.Categories), fromJSON(&c.Topics))
	return c, err
}

// listOrOpen returns a list as it is stored where NULL leaves it open.
func listOrOpen(list []string) any {
	if list == nil {
		return nil
	}
	return asJSON(list)
}

// Correct implements [storage.Corrections].
func (s *Store) Correct(ctx context.Context, c storage.Correction) (item storage.Item, err error) {
	err = s.change(ctx, "correct item", func(w *writer) (err error) {
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
	c = c.After(before)
	_, err = w.putCorrection.ExecContext(ctx, c.ItemID, micros(c.At), c.By, c.Spam, listOrOpen(c.Categories), listOrOpen(c.Topics))
	if err != nil {
		return storage.Item{}, err
	}
	if _, err := w.forgetKeptOf.ExecContext(ctx, c.ItemID); err != nil {
		return storage.Item{}, err
	}
	if err := w.label(ctx, storage.LabelsOf(c.On(item)), true); err != nil {
		return storage.Item{}, err
	}
	return w.item(ctx, c.ItemID)
}

// item returns the item with the given ID, or [storage.ErrNotFound].
func (w *writer) item(ctx context.Context, id string) (storage.Item, error) {
	return storage.First(collect(ctx, w.items, scanItem, chunkArgs([]string{id})...))
}

// Corrections implements [storage.Corrections].
func (s *Store) Corrections(ctx context.Context, after storage.Correction, limit int) ([]storage.Correction, error) {
	page, err := collect(ctx, s.read.corrections, scanCorrection, micros(after.At), after.ItemID, max(limit, 0))
	return page, s.failed(ctx, "list corrections", err)
}

// Uncorrect implements [storage.Corrections].
func (s *Store) Uncorrect(ctx context.Context, itemID string) (item storage.Item, err error) {
	err = s.change(ctx, "take a correction back", func(w *writer) (err error) {
		if _, err := w.dropCorrection.ExecContext(ctx, itemID); err != nil {
			return err
		}
		wasCorrected, err := changes(w.uncorrect.ExecContext(ctx, itemID, micros(time.Now())))
		if err != nil {
			return err
		}
		if wasCorrected {
			if err := w.mark(ctx, itemID); err != nil {
				return err
			}
		}
		item, err = w.item(ctx, itemID)
		return err
	})
	return item, err
}

const dropSpam = `DELETE FROM spam WHERE item_id = ?`

// takeOver has an item take over what persons said of another that is dropped,
// unless they said something of itself, and what clients marked, and forgets all
// that was said of that.
func (w *writer) takeOver(ctx context.Context, id, dropped string) error {
	said, err := scanCorrection(w.correctionOf.QueryRowContext(ctx, dropped))
	if err == nil {
		_, err = scanCorrection(w.correctionOf.QueryRowContext(ctx, id))
		if errors.Is(err, sql.ErrNoRows) {
			said.ItemID = id
			_, err = w.correct(ctx, said)
		}
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, err := w.takeMarks.ExecContext(ctx, dropped, id); err != nil {
		return err
	}
	for _, drop := range []*sql.Stmt{w.dropSpam, w.dropCorrection, w.forgetKeptOf, w.dropMarks} {
		if _, err := drop.ExecContext(ctx, dropped); err != nil {
			return err
		}
	}
	return nil
}
