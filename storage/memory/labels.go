package memory

import (
	"context"
	"maps"
	"slices"

	"feedmesh/storage"
)

// Relabel implements [storage.Relabels].
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
			s.keepUnder(job, was)
		}
		s.relabel(item, last[id])
		changed = append(changed, id)
	}
	return changed, nil
}

// keepUnder keeps labels under a job, unless it has some of the item.
func (s *Store) keepUnder(job string, was storage.Labels) {
	if s.kept[job] == nil {
		s.kept[job] = map[string]storage.Labels{}
	}
	if _, has := s.kept[job][was.ItemID]; !has {
		s.kept[job][was.ItemID] = was
	}
}

func (s *Store) relabel(item storage.Item, labels storage.Labels) {
	item = copyItem(labels.On(item))
	item.Changed = changedAfter(item.Changed)
	s.keep(item)
}

// UndoRelabel implements [storage.Relabels].
func (s *Store) UndoRelabel(ctx context.Context, job string, limit int) (restored []string, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	kept := s.kept[job]
	restored = first(slices.Sorted(maps.Keys(kept)), limit)
	for _, id := range restored {
		if item := s.items[id]; !storage.LabelsOf(item).Equal(kept[id]) {
			s.relabel(item, kept[id])
		}
		delete(kept, id)
	}
	return restored, nil
}

// ForgetRelabel implements [storage.Relabels].
func (s *Store) ForgetRelabel(ctx context.Context, job string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.kept, job)
	return nil
}
