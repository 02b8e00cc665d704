package memory

import (
	"context"
	"maps"
	"slices"

	"feedmesh/storage"
)

// ResolveFeed implements [storage.Feeds].
func (s *Store) ResolveFeed(ctx context.Context, id string) (string, error) {
	if err := s.lock(ctx); err != nil {
		return "", err
	}
	defer s.mu.Unlock()
	if newID := s.resolve(id); newID != "" {
		return newID, nil
	}
	return "", storage.ErrNotFound
}

// resolve returns the current ID of a feed, or "".
func (s *Store) resolve(id string) string {
	if _, ok := s.feeds[id]; ok {
		return id
	}
	return s.redirects[id]
}

// MoveFeed implements [storage.Feeds].
func (s *Store) MoveFeed(ctx context.Context, id, url string) (affected []string, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	old, ok := s.feeds[id]
	switch {
	case !ok:
		return nil, storage.ErrNotFound
	case url == old.URL:
		return nil, nil
	}
	to := s.moveTarget(id, url)
	affected = s.moveItems(id, to.ID)
	s.feeds[to.ID] = s.counted(storage.MergeFeeds(to, old))
	for from, target := range s.redirects {
		if target == id {
			s.redirects[from] = to.ID
		}
	}
	s.redirects[id] = to.ID
	s.deleteReadUntilOfFeed(id)
	delete(s.keys, id)
	delete(s.feeds, id)
	return affected, nil
}

// moveTarget returns the feed that a move to the URL leads to. If it does not exist, the result is new and
// has no items.
func (s *Store) moveTarget(id, url string) storage.Feed {
	to := storage.FeedID(url)
	if s.redirects[to] == id {
		delete(s.redirects, to)
	}
	if newID := s.resolve(to); newID != "" {
		return s.feeds[newID]
	}
	s.keys[to] = map[string]string{}
	return storage.Feed{ID: to, URL: url}
}

// moveItems moves the items of one feed to another, and returns the IDs of all affected items.
func (s *Store) moveItems(from, to string) []string {
	renamed := map[string]string{}
	for key, id := range s.keys[from] {
		renamed[id] = storage.ItemID(to, key)
	}
	affected := slices.Concat(slices.Collect(maps.Keys(renamed)), slices.Collect(maps.Values(renamed)))
	originals := map[string]bool{}
	for id, item := range s.items {
		if newID, ok := renamed[item.DuplicateOf]; ok {
			item.DuplicateOf, item.Changed = newID, changedAfter(item.Changed)
			s.storeItem(item)
			originals[newID] = true
			affected = append(affected, id)
		}
	}
	for id, newID := range renamed {
		s.moveItem(id, newID, to, originals[newID])
	}
	slices.Sort(affected)
	return slices.Compact(affected)
}

// moveItem moves an item to another feed, or deletes it if that feed contains it already. The kept item
// becomes an original if first is set.
func (s *Store) moveItem(id, newID, to string, first bool) {
	item, correction := s.items[id], s.corrections[id]
	s.moveMarks(item, newID, to)
	if kept, ok := s.items[newID]; ok {
		s.deleteItem(id)
		if first {
			kept = asOriginal(kept)
			kept.Changed = changedAfter(kept.Changed)
			s.storeItem(kept)
		}
		if item.Corrected && !kept.Corrected {
			correction.ItemID = newID
			s.correct(kept, correction)
		}
		return
	}
	s.moveRecords(id, newID)
	item.ID, item.FeedID, item.Changed = newID, to, changedAfter(item.Changed)
	s.keys[to][item.Key] = newID
	s.storeItem(item)
}

// moveRecords copies an item's records to another ID, and deletes the item.
func (s *Store) moveRecords(id, newID string) {
	if judged, ok := s.judged[id]; ok {
		s.judged[newID] = judged
	}
	if correction, ok := s.corrections[id]; ok {
		correction.ItemID = newID
		s.corrections[newID] = correction
	}
	for _, kept := range s.savedLabels {
		if labels, ok := kept[id]; ok {
			labels.ItemID = newID
			kept[newID] = labels
		}
	}
	s.deleteItem(id)
}
