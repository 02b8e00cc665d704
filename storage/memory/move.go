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
	if now := s.resolve(id); now != "" {
		return now, nil
	}
	return "", storage.ErrNotFound
}

// resolve returns the ID of the feed that id stands for, or "".
func (s *Store) resolve(id string) string {
	if _, ok := s.feeds[id]; ok {
		return id
	}
	return s.moved[id]
}

// MoveFeed implements [storage.Feeds].
func (s *Store) MoveFeed(ctx context.Context, id, url string) (concerned []string, err error) {
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
	to := s.target(id, url)
	concerned = s.moveItems(id, to.ID)
	s.feeds[to.ID] = s.counted(storage.MergeFeeds(to, old))
	for from, stands := range s.moved {
		if stands == id {
			s.moved[from] = to.ID
		}
	}
	s.moved[id] = to.ID
	s.forgetReadFeed(id)
	delete(s.keys, id)
	delete(s.feeds, id)
	return concerned, nil
}

// target returns the feed that one moves to for a URL. It is new if it has no
// items yet.
func (s *Store) target(id, url string) storage.Feed {
	to := storage.FeedID(url)
	if s.moved[to] == id {
		delete(s.moved, to)
	}
	if now := s.resolve(to); now != "" {
		return s.feeds[now]
	}
	s.keys[to] = map[string]string{}
	return storage.Feed{ID: to, URL: url}
}

// moveItems gives the items of one feed to another, and returns the IDs of all
// items concerned.
func (s *Store) moveItems(from, to string) []string {
	renamed := map[string]string{}
	for key, id := range s.keys[from] {
		renamed[id] = storage.ItemID(to, key)
	}
	concerned := slices.Concat(slices.Collect(maps.Keys(renamed)), slices.Collect(maps.Values(renamed)))
	repeated := map[string]bool{}
	for id, item := range s.items {
		if now, ok := renamed[item.DuplicateOf]; ok {
			item.DuplicateOf, item.Changed = now, changedAfter(item.Changed)
			s.keep(item)
			repeated[now] = true
			concerned = append(concerned, id)
		}
	}
	for id, now := range renamed {
		s.moveItem(id, now, to, repeated[now])
	}
	slices.Sort(concerned)
	return slices.Compact(concerned)
}

// moveItem has an item be that of another feed, or drops it if that has one,
// which then may be the first of its kind from now on.
func (s *Store) moveItem(id, now, to string, first bool) {
	item, said := s.items[id], s.corrections[id]
	s.moveMarks(item, now, to)
	if kept, ok := s.items[now]; ok {
		s.drop(id)
		if first {
			kept = standsForItself(kept)
			kept.Changed = changedAfter(kept.Changed)
			s.keep(kept)
		}
		if item.Corrected && !kept.Corrected {
			said.ItemID = now
			s.correct(kept, said)
		}
		return
	}
	s.rename(id, now)
	item.ID, item.FeedID, item.Changed = now, to, changedAfter(item.Changed)
	s.keys[to][item.Key] = now
	s.keep(item)
}

// rename has what was said of an item be said of another ID, and drops the item.
func (s *Store) rename(id, now string) {
	if judged, ok := s.judged[id]; ok {
		s.judged[now] = judged
	}
	if said, ok := s.corrections[id]; ok {
		said.ItemID = now
		s.corrections[now] = said
	}
	for _, kept := range s.kept {
		if labels, ok := kept[id]; ok {
			labels.ItemID = now
			kept[now] = labels
		}
	}
	s.drop(id)
}
