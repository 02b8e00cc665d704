// Package memory keeps everything in memory, and loses it with the process: for
// tests of what uses a [storage.Store] or a [storage.Index].
package memory

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

var _ storage.Store = (*Store)(nil)

// Store is a [storage.Store]. The zero Store is empty and ready for use.
type Store struct {
	mu     sync.Mutex
	id     string
	feeds  map[string]storage.Feed
	items  map[string]storage.Item
	keys   map[string]map[string]string // item ID by feed ID and key
	fences map[string]int64
}

// lock makes the maps and locks them, unless ctx is done.
func (s *Store) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.feeds == nil {
		s.feeds = map[string]storage.Feed{}
		s.items = map[string]storage.Item{}
		s.keys = map[string]map[string]string{}
		s.fences = map[string]int64{}
		s.id = rand.Text()
	}
	return nil
}

// ID implements [storage.Store].
func (s *Store) ID(ctx context.Context) (string, error) {
	if err := s.lock(ctx); err != nil {
		return "", err
	}
	defer s.mu.Unlock()
	return s.id, nil
}

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
		if _, ok := s.feeds[f.ID]; ok {
			continue
		}
		f = copyFeed(f)
		f.Items, f.LastItem, f.Rate = 0, time.Time{}, 0
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
		delete(s.items, itemID)
	}
	for itemID, item := range s.items {
		if removed[item.DuplicateOf] {
			item.DuplicateOf, item.DuplicateBy = "", ""
			item.Changed = changedAfter(item.Changed)
			s.items[itemID] = item
			concerned = append(concerned, itemID)
		}
	}
	delete(s.keys, id)
	delete(s.feeds, id)
	return concerned, nil
}

// Counts implements [storage.Feeds].
func (s *Store) Counts(ctx context.Context) (storage.Counts, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Counts{}, err
	}
	defer s.mu.Unlock()
	return storage.Counts{Feeds: int64(len(s.feeds)), Items: int64(len(s.items))}, nil
}

// Known implements [storage.Items].
func (s *Store) Known(ctx context.Context, feedID string, keys []string) (map[string]string, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	known := map[string]string{}
	for _, key := range keys {
		if id, ok := s.keys[feedID][key]; ok {
			known[key] = s.items[id].Hash
		}
	}
	return known, nil
}

// PutItems implements [storage.Items].
func (s *Store) PutItems(ctx context.Context, batch storage.Batch) (storage.Stored, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Stored{}, err
	}
	defer s.mu.Unlock()
	feed, ok := s.feeds[batch.FeedID]
	switch {
	case batch.Fence != (storage.Fence{}) && batch.Fence.Number < s.fences[batch.Fence.Name]:
		return storage.Stored{}, storage.ErrFenced
	case !ok:
		return storage.Stored{}, storage.ErrNotFound
	}
	var stored storage.Stored
	for _, item := range batch.Items {
		s.putItem(feed.ID, item, &stored)
	}
	feed.Title = cmp.Or(batch.Title, feed.Title)
	feed.Site = cmp.Or(batch.Site, feed.Site)
	feed.Language = cmp.Or(batch.Language, feed.Language)
	feed.Rate = cmp.Or(batch.Rate, feed.Rate)
	feed.Items = int64(len(s.keys[feed.ID]))
	feed.LastItem = time.Time{}
	for _, id := range s.keys[feed.ID] {
		if at := s.items[id].Published; at.After(feed.LastItem) {
			feed.LastItem = at
		}
	}
	s.feeds[feed.ID] = feed
	return stored, nil
}

func (s *Store) putItem(feedID string, item storage.Item, stored *storage.Stored) {
	item = copyItem(item)
	item.FeedID, item.Revision, item.Changed = feedID, 1, changedAfter(time.Time{})
	old, known := s.items[s.keys[feedID][item.Key]]
	switch {
	case !known:
		stored.New = append(stored.New, item.ID)
	case old.Hash == item.Hash:
		return
	default:
		item.Revision, item.FirstSeen = old.Revision+1, old.FirstSeen
		item.Changed = changedAfter(old.Changed)
		if item.Assumed != "" {
			item.Published, item.Assumed = old.Published, old.Assumed
		}
		if !slices.Contains(stored.New, item.ID) && !slices.Contains(stored.Changed, item.ID) {
			stored.Changed = append(stored.Changed, item.ID)
		}
	}
	s.items[item.ID] = item
	s.keys[feedID][item.Key] = item.ID
}

// Item implements [storage.Items].
func (s *Store) Item(ctx context.Context, id string) (storage.Item, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Item{}, err
	}
	defer s.mu.Unlock()
	item, ok := s.items[id]
	if !ok {
		return storage.Item{}, storage.ErrNotFound
	}
	return copyItem(item), nil
}

// Items implements [storage.Items].
func (s *Store) Items(ctx context.Context, ids ...string) ([]storage.Item, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var found []storage.Item
	for _, id := range ids {
		if item, ok := s.items[id]; ok {
			found = append(found, copyItem(item))
		}
	}
	return found, nil
}

// ItemsSince implements [storage.Items].
func (s *Store) ItemsSince(ctx context.Context, lane string, since time.Time, after storage.Item, limit int) ([]storage.Item, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	since, after.FirstSeen = micro(since), micro(after.FirstSeen)
	var page []storage.Item
	for _, item := range s.items {
		if item.Lane == lane && !item.FirstSeen.Before(since) && bySeen(item, after) > 0 {
			page = append(page, item)
		}
	}
	slices.SortFunc(page, bySeen)
	page = first(page, limit)
	for i := range page {
		page[i] = copyItem(page[i])
	}
	return page, nil
}

func bySeen(a, b storage.Item) int {
	return cmp.Or(a.FirstSeen.Compare(b.FirstSeen), cmp.Compare(a.ID, b.ID))
}

// Days implements [storage.Stamped].
func (s *Store) Days(ctx context.Context) (map[time.Time]int64, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	days := map[time.Time]int64{}
	for _, item := range s.items {
		days[storage.Day(item.FirstSeen)]++
	}
	return days, nil
}

// Stamps implements [storage.Stamped].
func (s *Store) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var page []storage.Stamp
	for _, item := range s.items {
		if item.ID > after && storage.Day(item.FirstSeen).Equal(day) {
			page = append(page, storage.Stamp{ID: item.ID, Changed: item.Changed})
		}
	}
	slices.SortFunc(page, byID)
	return first(page, limit), nil
}

func byID(a, b storage.Stamp) int { return cmp.Compare(a.ID, b.ID) }

// NextFence implements [storage.Fences].
func (s *Store) NextFence(ctx context.Context, name string) (storage.Fence, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Fence{}, err
	}
	defer s.mu.Unlock()
	s.fences[name]++
	return storage.Fence{Name: name, Number: s.fences[name]}, nil
}

// Ping implements [storage.Store].
func (s *Store) Ping(ctx context.Context) error { return ctx.Err() }

// Close implements [storage.Store]. What the Store has stays there.
func (s *Store) Close() error { return nil }

// changedAfter returns now, or the microsecond after old if that is not over:
// an item never changes twice at one time.
func changedAfter(old time.Time) time.Time {
	now, next := micro(time.Now()), old.Add(time.Microsecond)
	if now.Before(next) {
		return next
	}
	return now
}

func first[T any](s []T, limit int) []T { return s[:min(len(s), max(limit, 0))] }

func copyFeed(f storage.Feed) storage.Feed {
	f.Tags = copyList(f.Tags)
	f.Added = micro(f.Added)
	return f
}

func copyItem(item storage.Item) storage.Item {
	for _, list := range []*[]string{&item.Images, &item.Tags, &item.Categories, &item.Topics, &item.Why} {
		*list = copyList(*list)
	}
	for _, t := range []*time.Time{&item.Published, &item.Updated, &item.FirstSeen} {
		*t = micro(*t)
	}
	return item
}

// copyList returns nil for an empty list, as the other engines do.
func copyList(list []string) []string { return append([]string(nil), list...) }

// micro also drops the monotonic clock, which would make equal times differ.
func micro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
