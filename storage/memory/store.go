// Package memory implements [storage.Store] and [storage.Index] in memory, for tests. All contents are lost
// when the process exits. A lock serializes the calls.
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
	mu        sync.Mutex
	id        string
	feeds     map[string]storage.Feed
	redirects map[string]string // ID of the target feed by ID of the moved feed
	items     map[string]storage.Item
	keys      map[string]map[string]string // item ID by feed ID and key
	fences    map[string]int64
	records   map[string][]any // sorted records by table

	judged      map[string]time.Time // by ID of a spam item
	corrections map[string]storage.Correction
	savedLabels map[string]map[string]storage.Labels // labels by job and item ID

	members         map[string]map[string]bool // IDs of items, by story ID
	movedEvents     map[string]movedEvent      // by event ID
	dirtyStories    []storage.DirtyStory       // oldest first
	lastDirtyNumber int64                      // number of the newest dirty record ever
	stories         map[string]storage.Story

	marksByClient map[string]*clientMarks // by client
}

// lock locks the store and initializes its maps, unless ctx has ended.
func (s *Store) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.feeds == nil {
		s.feeds = map[string]storage.Feed{}
		s.redirects = map[string]string{}
		s.items = map[string]storage.Item{}
		s.keys = map[string]map[string]string{}
		s.fences = map[string]int64{}
		s.records = map[string][]any{}
		s.judged = map[string]time.Time{}
		s.corrections = map[string]storage.Correction{}
		s.savedLabels = map[string]map[string]storage.Labels{}
		s.members = map[string]map[string]bool{}
		s.movedEvents = map[string]movedEvent{}
		s.stories = map[string]storage.Story{}
		s.marksByClient = map[string]*clientMarks{}
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

// ItemHashes implements [storage.Items].
func (s *Store) ItemHashes(ctx context.Context, feedID string, keys []string) (map[string]string, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	exists := map[string]string{}
	for _, key := range keys {
		if id, ok := s.keys[feedID][key]; ok {
			exists[key] = s.items[id].Hash
		}
	}
	return exists, nil
}

// PutItems implements [storage.Items].
func (s *Store) PutItems(ctx context.Context, batch storage.Batch) (storage.Stored, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Stored{}, err
	}
	defer s.mu.Unlock()
	feed, ok := s.feeds[batch.FeedID]
	switch {
	case s.fenced(batch.Fence):
		return storage.Stored{}, storage.ErrFenced
	case !ok:
		return storage.Stored{}, storage.ErrNotFound
	}
	var stored storage.Stored
	var isNew []storage.Item
	for _, item := range batch.Items {
		if s.putItem(feed.ID, item, &stored) {
			isNew = append(isNew, item)
		}
	}
	feed.Categories = storage.CountCategories(feed.Categories, isNew...)
	feed.Title = cmp.Or(batch.Title, feed.Title)
	feed.Site = cmp.Or(batch.Site, feed.Site)
	feed.Language = cmp.Or(batch.Language, feed.Language)
	feed.Rate = cmp.Or(batch.Rate, feed.Rate)
	s.feeds[feed.ID] = s.counted(feed)
	return stored, nil
}

// putItem reports whether the item is new.
func (s *Store) putItem(feedID string, item storage.Item, stored *storage.Stored) (isNew bool) {
	item = copyItem(item)
	item.FeedID, item.Revision, item.Changed, item.Corrected, item.Clicks = feedID, 1, changedAfter(time.Time{}), false, 0
	old, exists := s.items[s.keys[feedID][item.Key]]
	switch {
	case !exists:
		if moved, ok := s.movedEvents[item.EventID]; ok {
			item.StoryID = moved.story
		}
		stored.New = append(stored.New, item.ID)
	case old.Hash == item.Hash:
		return false
	default:
		item = storage.Revise(old, item)
		if old.Corrected {
			item = storage.LabelsOf(old).ApplyTo(item)
			item.Corrected = true
		}
		item.Changed = changedAfter(old.Changed)
		if !slices.Contains(stored.New, item.ID) && !slices.Contains(stored.Changed, item.ID) {
			stored.Changed = append(stored.Changed, item.ID)
		}
	}
	s.storeItem(item)
	s.keys[feedID][item.Key] = item.ID
	return !exists
}

// storeItem stores an item, and marks its old and new story dirty.
func (s *Store) storeItem(item storage.Item) {
	if old := s.items[item.ID]; old.StoryID != item.StoryID {
		s.removeFromStory(old.StoryID, item.ID)
	}
	s.items[item.ID] = item
	s.addToStory(item.StoryID, item.ID)
	if _, judged := s.judged[item.ID]; !item.Spam {
		delete(s.judged, item.ID)
	} else if !judged {
		s.judged[item.ID] = item.Changed
	}
}

// deleteItem deletes an item with all its records.
func (s *Store) deleteItem(id string) {
	s.removeFromStory(s.items[id].StoryID, id)
	delete(s.items, id)
	delete(s.judged, id)
	delete(s.corrections, id)
	s.deleteMarksOfItem(id)
	for _, labels := range s.savedLabels {
		delete(labels, id)
	}
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
func (s *Store) ItemsSince(ctx context.Context, partition string, since time.Time, after storage.Item, limit int) ([]storage.Item, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	since, after.FirstSeen = micro(since), micro(after.FirstSeen)
	var page []storage.Item
	for _, item := range s.items {
		if item.Partition == partition && !item.FirstSeen.Before(since) && bySeen(item, after) > 0 {
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

// Days implements [storage.StampReader].
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

// Stamps implements [storage.StampReader].
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

// Close implements [storage.Store]. It keeps the contents.
func (s *Store) Close() error { return nil }
