package memory

import (
	"cmp"
	"context"
	"slices"

	"feedmesh/storage"
)

// DirtyStories implements [storage.Stories].
func (s *Store) DirtyStories(ctx context.Context, limit int) ([]storage.DirtyStory, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(first(s.dirtyStories, limit)), nil
}

// PutStories implements [storage.Stories].
func (s *Store) PutStories(ctx context.Context, fence storage.Fence, dirty []storage.DirtyStory, summaries []storage.Story, gone []string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.fenced(fence) {
		return storage.ErrFenced
	}
	for _, story := range summaries {
		s.stories[story.ID] = copyStory(story)
	}
	for _, id := range gone {
		delete(s.stories, id)
	}
	done := map[int64]bool{}
	for _, record := range dirty {
		done[record.Number] = true
	}
	s.dirtyStories = slices.DeleteFunc(s.dirtyStories, func(record storage.DirtyStory) bool { return done[record.Number] })
	return nil
}

// Story implements [storage.Stories].
func (s *Store) Story(ctx context.Context, id string) (storage.Story, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Story{}, err
	}
	defer s.mu.Unlock()
	story, ok := s.stories[id]
	if !ok {
		return storage.Story{}, storage.ErrNotFound
	}
	return copyStory(story), nil
}

// StoriesByID implements [storage.Stories].
func (s *Store) StoriesByID(ctx context.Context, ids ...string) (map[string]storage.Story, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	summaries := map[string]storage.Story{}
	for _, id := range ids {
		if story, ok := s.stories[id]; ok {
			summaries[id] = copyStory(story)
		}
	}
	return summaries, nil
}

// ListStories implements [storage.Stories].
func (s *Store) ListStories(ctx context.Context, q storage.StoryQuery) (page []storage.Story, next string, err error) {
	after, err := q.Position()
	if err != nil {
		return nil, "", err
	}
	if err := s.lock(ctx); err != nil {
		return nil, "", err
	}
	defer s.mu.Unlock()
	var found []storage.Story
	for _, story := range s.stories {
		if matches(story, q) && (after == nil || byPosition(q.PositionOf(story), *after) > 0) {
			found = append(found, copyStory(story))
		}
	}
	slices.SortFunc(found, func(a, b storage.Story) int { return byPosition(q.PositionOf(a), q.PositionOf(b)) })
	page, next = q.SplitPage(found)
	return page, next, nil
}

func matches(s storage.Story, q storage.StoryQuery) bool {
	return (q.Partition == "" || s.Partition == q.Partition) &&
		(q.Category == "" || slices.Contains(s.Categories, q.Category)) &&
		(q.Topic == "" || slices.Contains(s.Topics, q.Topic)) &&
		(q.After.IsZero() || !s.LastSeen.Before(micro(q.After))) &&
		(q.Before.IsZero() || s.FirstSeen.Before(micro(q.Before))) &&
		s.Sources >= q.Sources
}

// byPosition compares positions of the same order.
func byPosition(a, b storage.StoryPosition) int {
	if a.Newest {
		return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.ID, b.ID))
}
