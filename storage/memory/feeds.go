package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

// Feed implements [storage.Feeds].
func (s *Store) Feed(ctx context.Context, id string) (storage.Feed, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Feed{}, err
	}
	defer s.mu.Unlock()
	f, ok := s.feeds[id]
	if !ok {
		return storage.Feed{}, storage.ErrNotFound
	}
	return copyFeed(f), nil
}

// ListFeeds implements [storage.Feeds].
func (s *Store) ListFeeds(ctx context.Context, after string, limit int) ([]storage.Feed, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var page []storage.Feed
	for _, f := range s.feeds {
		if f.URL > after {
			page = append(page, copyFeed(f))
		}
	}
	slices.SortFunc(page, func(a, b storage.Feed) int { return cmp.Compare(a.URL, b.URL) })
	return first(page, limit), nil
}

// AddFeeds implements [storage.Feeds].
func (s *Store) AddFeeds(ctx context.Context, feeds ...storage.Feed) (added []string, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, f := range feeds {
		if s.resolve(f.ID) != "" {
			continue
		}
		f = copyFeed(f)
		f.Items, f.LastItem, f.Rate, f.Categories = 0, time.Time{}, 0, nil
		s.feeds[f.ID] = f
		s.keys[f.ID] = map[string]string{}
		added = append(added, f.ID)
	}
	return added, nil
}

// RemoveFeed implements [storage.Feeds].
func (s *Store) RemoveFeed(ctx context.Context, id string) (concerned []string, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if _, ok := s.feeds[id]; !ok {
		return nil, storage.ErrNotFound
	}
	removed := map[string]bool{}
	for _, itemID := range s.keys[id] {
		concerned, removed[itemID] = append(concerned, itemID), true
		s.deleteItem(itemID)
	}
	for itemID, item := range s.items {
		if removed[item.DuplicateOf] {
			item = asOriginal(item)
			item.Changed = changedAfter(item.Changed)
			s.storeItem(item)
			concerned = append(concerned, itemID)
		}
	}
	s.deleteReadUntilOfFeed(id)
	delete(s.keys, id)
	delete(s.feeds, id)
	maps.DeleteFunc(s.redirects, func(_, to string) bool { return to == id })
	return concerned, nil
}

// asOriginal returns the item as an original instead of a duplicate.
func asOriginal(item storage.Item) storage.Item {
	item.DuplicateOf, item.DuplicateBy, item.DuplicateScore, item.DuplicateReason = "", "", 0, ""
	return item
}

// SetFeed implements [storage.Feeds].
func (s *Store) SetFeed(ctx context.Context, id string, settings storage.Settings) (storage.Feed, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Feed{}, err
	}
	defer s.mu.Unlock()
	f, ok := s.feeds[id]
	if !ok {
		return storage.Feed{}, storage.ErrNotFound
	}
	f.Tags, f.Pinned, f.FullText, f.Request = settings.Tags, settings.Pinned, settings.FullText, settings.Request
	f.SpamThreshold = settings.SpamThreshold
	s.feeds[id] = copyFeed(f)
	return copyFeed(f), nil
}

// Counts implements [storage.Feeds].
func (s *Store) Counts(ctx context.Context) (storage.Counts, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Counts{}, err
	}
	defer s.mu.Unlock()
	return storage.Counts{Feeds: int64(len(s.feeds)), Items: int64(len(s.items))}, nil
}

// counted returns the feed with the number and the latest date of its items.
func (s *Store) counted(f storage.Feed) storage.Feed {
	f.Items, f.LastItem = int64(len(s.keys[f.ID])), time.Time{}
	for _, id := range s.keys[f.ID] {
		if at := s.items[id].Published; at.After(f.LastItem) {
			f.LastItem = at
		}
	}
	return f
}
