package memory

import (
	"context"
	"maps"
	"slices"

	"feedmesh/storage"
)

// Relabel implements [storage.Relabeling].
func (s *Store) Relabel(ctx context.Context, job string, labels ...storage.Labels) (changed []string, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	last := map[string]storage.Labels{}
	for _, l := range labels {
		last[l.ItemID] = l
	}
	for _, id := range slices.Sorted(maps.Keys(last)) {
		item, ok := s.items[id]
		was := storage.LabelsOf(item)
		if !ok || item.Corrected || was.Equal(last[id]) {
			continue
		}
		if job != "" {
			s.saveLabels(job, was)
		}
		s.relabel(item, last[id])
		changed = append(changed, id)
	}
	return changed, nil
}

// saveLabels stores labels under a job, unless labels of the item are stored already.
func (s *Store) saveLabels(job string, was storage.Labels) {
	if s.savedLabels[job] == nil {
		s.savedLabels[job] = map[string]storage.Labels{}
	}
	if _, has := s.savedLabels[job][was.ItemID]; !has {
		s.savedLabels[job][was.ItemID] = was
	}
}

func (s *Store) relabel(item storage.Item, labels storage.Labels) {
	item = copyItem(labels.ApplyTo(item))
	item.Changed = changedAfter(item.Changed)
	s.storeItem(item)
}

// UndoRelabel implements [storage.Relabeling].
func (s *Store) UndoRelabel(ctx context.Context, job string, limit int) (restored []string, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	kept := s.savedLabels[job]
	restored = first(slices.Sorted(maps.Keys(kept)), limit)
	for _, id := range restored {
		if item := s.items[id]; !storage.LabelsOf(item).Equal(kept[id]) {
			s.relabel(item, kept[id])
		}
		delete(kept, id)
	}
	return restored, nil
}

// DeleteRelabelUndo implements [storage.Relabeling].
func (s *Store) DeleteRelabelUndo(ctx context.Context, job string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.savedLabels, job)
	return nil
}
