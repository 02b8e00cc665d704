package memory

import (
	"cmp"
	"context"
	"slices"

	"feedmesh/storage"
)

// UntoldStories implements [storage.Stories].
func (s *Store) UntoldStories(ctx context.Context, limit int) ([]storage.Untold, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(first(s.untold, limit)), nil
}

// TellStories implements [storage.Stories].
func (s *Store) TellStories(ctx context.Context, fence storage.Fence, marks []storage.Untold, told []storage.Story, gone []string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.fenced(fence) {
		return storage.ErrFenced
	}
	for _, story := range told {
		s.stories[story.ID] = copyStory(story)
	}
	for _, id := range gone {
		delete(s.stories, id)
	}
	forgotten := map[int64]bool{}
	for _, mark := range marks {
		forgotten[mark.Mark] = true
	}
	s.untold = slices.DeleteFunc(s.untold, func(mark storage.Untold) bool { return forgotten[mark.Mark] })
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

// ToldStories implements [storage.Stories].
func (s *Store) ToldStories(ctx context.Context, ids ...string) (map[string]storage.Story, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	told := map[string]storage.Story{}
	for _, id := range ids {
		if story, ok := s.stories[id]; ok {
			told[id] = copyStory(story)
		}
	}
	return told, nil
}

// ListStories implements [storage.Stories].
func (s *Store) ListStories(ctx context.Context, q storage.StoryQuery) (page []storage.Story, next string, err error) {
	after, err := q.Place()
	if err != nil {
		return nil, "", err
	}
	if err := s.lock(ctx); err != nil {
		return nil, "", err
	}
	defer s.mu.Unlock()
	var found []storage.Story
	for _, story := range s.stories {
		if matches(story, q) && (after == nil || byPlace(q.PlaceOf(story), *after) > 0) {
			found = append(found, copyStory(story))
		}
	}
	slices.SortFunc(found, func(a, b storage.Story) int { return byPlace(q.PlaceOf(a), q.PlaceOf(b)) })
	page, next = q.Cut(found)
	return page, next, nil
}

func matches(s storage.Story, q storage.StoryQuery) bool {
	return (q.Lane == "" || s.Lane == q.Lane) &&
		(q.Category == "" || slices.Contains(s.Categories, q.Category)) &&
		(q.Topic == "" || slices.Contains(s.Topics, q.Topic)) &&
		(q.After.IsZero() || !s.LastSeen.Before(micro(q.After))) &&
		(q.Before.IsZero() || s.FirstSeen.Before(micro(q.Before))) &&
		s.Sources >= q.Sources
}

// byPlace compares places of one order.
func byPlace(a, b storage.StoryPlace) int {
	if a.Newest {
		return cmp.Or(b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.ID, b.ID))
}

// Note implements [storage.Notes].
func (s *Store) Note(ctx context.Context, name string) ([]byte, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.Clone(s.notes[name]), nil
}

// PutNote implements [storage.Notes].
func (s *Store) PutNote(ctx context.Context, fence storage.Fence, name string, note []byte) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if s.fenced(fence) {
		return storage.ErrFenced
	}
	s.notes[name] = slices.Clone(note)
	return nil
}
