package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"feedmesh/storage"
)

// A movedEvent records the story of new items of an event.
type movedEvent struct {
	story string
	at    time.Time
}

// moveRetention is the period for which a move applies to new items.
const moveRetention = 30 * 24 * time.Hour

// Rearrange implements [storage.Stories].
func (s *Store) Rearrange(ctx context.Context, r storage.Rearrangement) (changed []string, err error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if s.fenced(r.Fence) {
		return nil, storage.ErrFenced
	}
	placements := map[string]storage.Placement{}
	for _, p := range r.Items {
		placements[p.ItemID] = p
	}
	moves := s.moveEvents(r.Events)
	for id, item := range s.items {
		p, placed := placements[id]
		if story, moved := moves[item.EventID]; !placed && moved {
			p, placed = storage.PlacementOf(item), true
			p.StoryID = story
		}
		if placed && p != storage.PlacementOf(item) {
			item = p.ApplyTo(item)
			item.Changed = changedAfter(item.Changed)
			s.storeItem(item)
			changed = append(changed, id)
		}
	}
	if r.Name != "" {
		if err := storage.Notes(lockedRecords{s}).Put(ctx, storage.Fence{}, r.Name, r.Note); err != nil {
			return nil, err
		}
	}
	slices.Sort(changed)
	return changed, nil
}

// moveEvents records moves, deletes expired ones, and returns stories by event ID.
func (s *Store) moveEvents(events []storage.EventMove) map[string]string {
	now := time.Now()
	for event, moved := range s.movedEvents {
		if now.Sub(moved.at) > moveRetention {
			delete(s.movedEvents, event)
		}
	}
	moves := map[string]string{}
	for _, move := range events {
		if move.EventID != "" {
			moves[move.EventID] = move.StoryID
			s.movedEvents[move.EventID] = movedEvent{move.StoryID, now}
		}
	}
	return moves
}

// fenced reports whether a newer fence was issued.
func (s *Store) fenced(fence storage.Fence) bool {
	return fence != (storage.Fence{}) && fence.Number < s.fences[fence.Name]
}

// markDirty adds a dirty record of the story if it contains several items.
func (s *Store) markDirty(story string) {
	if len(s.members[story]) > 1 {
		s.lastDirtyNumber++
		s.dirtyStories = append(s.dirtyStories, storage.DirtyStory{StoryID: story, Number: s.lastDirtyNumber})
	}
}

// addToStory adds an item to a story.
func (s *Store) addToStory(story, id string) {
	if story == "" {
		return
	}
	if s.members[story] == nil {
		s.members[story] = map[string]bool{}
	}
	s.members[story][id] = true
	s.markDirty(story)
}

// removeFromStory removes an item from a story.
func (s *Store) removeFromStory(story, id string) {
	s.markDirty(story)
	delete(s.members[story], id)
	if len(s.members[story]) == 0 {
		delete(s.members, story)
	}
}

// ReadStory implements [storage.Stories].
func (s *Store) ReadStory(ctx context.Context, id string, limit int) (storage.StoryItems, error) {
	if err := s.lock(ctx); err != nil {
		return storage.StoryItems{}, err
	}
	defer s.mu.Unlock()
	if len(s.members[id]) == 0 {
		return storage.StoryItems{}, storage.ErrNotFound
	}
	var items []storage.Item
	for itemID := range s.members[id] {
		items = append(items, s.items[itemID])
	}
	story := storage.NewStoryItems(items)
	story.Items = withoutHTML(first(story.Items, limit))
	return story, nil
}

// ReadStories implements [storage.Stories].
func (s *Store) ReadStories(ctx context.Context, limit int, ids ...string) (map[string]storage.StoryItems, error) {
	return storage.ReadStoriesSerially(ctx, s, limit, ids)
}

// withoutHTML returns copies of the items.
func withoutHTML(items []storage.Item) (page []storage.Item) {
	for _, item := range items {
		item = copyItem(item)
		item.HTML = ""
		page = append(page, item)
	}
	return page
}

// Duplicates implements [storage.Stories].
func (s *Store) Duplicates(ctx context.Context, itemID string, limit int) ([]storage.Item, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var found []storage.Item
	for _, item := range s.items {
		if item.DuplicateOf == itemID && itemID != "" {
			found = append(found, item)
		}
	}
	slices.SortFunc(found, bySeen)
	return withoutHTML(first(found, limit)), nil
}

// AddClicks implements [storage.Stories].
func (s *Store) AddClicks(ctx context.Context, itemID string, n int) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	item, ok := s.items[itemID]
	if !ok {
		return storage.ErrNotFound
	}
	item.Clicks += n
	s.storeItem(item)
	return nil
}

// Sightings implements [storage.Stories].
func (s *Store) Sightings(ctx context.Context, from, until time.Time, after storage.Sighting, limit int) ([]storage.Sighting, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	from, until, after.Seen = micro(from), micro(until), micro(after.Seen)
	var page []storage.Sighting
	for _, item := range s.items {
		seen := storage.Sighting{
			ItemID: item.ID, Seen: item.FirstSeen, StoryID: item.StoryID,
			Categories: copyList(item.Categories), Topics: copyList(item.Topics),
		}
		if !item.Spam && !seen.Seen.Before(from) && seen.Seen.Before(until) && bySighting(seen, after) > 0 {
			page = append(page, seen)
		}
	}
	slices.SortFunc(page, bySighting)
	return first(page, limit), nil
}

func bySighting(a, b storage.Sighting) int {
	return cmp.Or(a.Seen.Compare(b.Seen), cmp.Compare(a.ItemID, b.ItemID))
}

// RecentEvents implements [storage.Stories].
func (s *Store) RecentEvents(ctx context.Context, partition string, since time.Time, limit int) ([]string, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	last := map[string]time.Time{}
	for _, item := range s.items {
		if item.Partition == partition && !item.FirstSeen.Before(micro(since)) && !item.FirstSeen.Before(last[item.EventID]) {
			last[item.EventID] = item.FirstSeen
		}
	}
	newest := slices.SortedFunc(maps.Keys(last), func(a, b string) int { return cmp.Or(last[b].Compare(last[a]), cmp.Compare(a, b)) })
	return first(newest, limit), nil
}

// EventItems implements [storage.Stories].
func (s *Store) EventItems(ctx context.Context, partition string, events []string, from, until time.Time, after storage.Item, limit int) ([]storage.Item, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	from, until, after.FirstSeen = micro(from), micro(until), micro(after.FirstSeen)
	requested := map[string]bool{}
	for _, id := range events {
		requested[id] = true
	}
	var page []storage.Item
	for _, item := range s.items {
		if item.Partition == partition && requested[item.EventID] && !item.FirstSeen.Before(from) && item.FirstSeen.Before(until) && bySeen(item, after) > 0 {
			page = append(page, copyItem(item))
		}
	}
	slices.SortFunc(page, bySeen)
	return first(page, limit), nil
}

// FeedCoverage implements [storage.Stories].
func (s *Store) FeedCoverage(ctx context.Context, since time.Time, sources int) (map[string]storage.FeedCoverage, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	coverage := map[string]storage.FeedCoverage{}
	for _, item := range s.items {
		if item.FirstSeen.Before(micro(since)) {
			continue
		}
		c := coverage[item.FeedID]
		c.Items++
		if story, ok := s.stories[item.StoryID]; ok && story.Sources >= sources {
			c.Covered++
		}
		coverage[item.FeedID] = c
	}
	return coverage, nil
}
