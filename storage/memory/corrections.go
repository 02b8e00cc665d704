package memory

import (
	"cmp"
	"context"
	"slices"

	"feedmesh/storage"
)

// Correct implements [storage.Corrections].
func (s *Store) Correct(ctx context.Context, c storage.Correction) (storage.Item, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Item{}, err
	}
	defer s.mu.Unlock()
	item, ok := s.items[c.ItemID]
	if !ok {
		return storage.Item{}, storage.ErrNotFound
	}
	return copyItem(s.correct(item, c)), nil
}

// correct applies a correction to an item, and returns it.
func (s *Store) correct(item storage.Item, c storage.Correction) storage.Item {
	c = copyCorrection(c.Merge(s.corrections[c.ItemID]))
	s.corrections[c.ItemID] = c
	for _, kept := range s.savedLabels {
		delete(kept, c.ItemID)
	}
	item = copyItem(c.ApplyTo(item))
	item.Changed = changedAfter(item.Changed)
	s.storeItem(item)
	return item
}

// Corrections implements [storage.Corrections].
func (s *Store) Corrections(ctx context.Context, after storage.Correction, limit int) ([]storage.Correction, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var page []storage.Correction
	for _, c := range s.corrections {
		if after.ItemID == "" || byAt(c, after) > 0 {
			page = append(page, copyCorrection(c))
		}
	}
	slices.SortFunc(page, byAt)
	return first(page, limit), nil
}

func byAt(a, b storage.Correction) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ItemID, b.ItemID))
}

// RemoveCorrection implements [storage.Corrections].
func (s *Store) RemoveCorrection(ctx context.Context, itemID string) (storage.Item, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Item{}, err
	}
	defer s.mu.Unlock()
	item, ok := s.items[itemID]
	switch {
	case !ok:
		return storage.Item{}, storage.ErrNotFound
	case item.Corrected:
		delete(s.corrections, itemID)
		item.Corrected, item.Changed = false, changedAfter(item.Changed)
		s.storeItem(item)
	}
	return copyItem(item), nil
}
