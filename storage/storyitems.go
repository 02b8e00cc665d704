package storage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// StoryItems contains a story's newest items, with totals over all of its items.
type StoryItems struct {
	Items     []Item // the newest
	Count     int    // number of all items
	Events    int    // number of distinct events
	FirstSeen time.Time
	LastSeen  time.Time // largest FirstSeen
	Clicks    int       // sum over all items
}

// NewStoryItems returns the totals of a story that consists of these items, at least one. It sorts items in
// place, newest first.
func NewStoryItems(items []Item) StoryItems {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(b.FirstSeen.Compare(a.FirstSeen), cmp.Compare(a.ID, b.ID))
	})
	story := StoryItems{Items: items, Count: len(items), FirstSeen: items[len(items)-1].FirstSeen, LastSeen: items[0].FirstSeen}
	events := map[string]bool{}
	for _, item := range items {
		events[item.EventID] = true
		story.Clicks += item.Clicks
	}
	story.Events = len(events)
	return story
}

// ReadStoriesSerially implements [Stories.ReadStories] by one [Stories.ReadStory] per story.
func ReadStoriesSerially(ctx context.Context, s interface {
	ReadStory(ctx context.Context, id string, limit int) (StoryItems, error)
}, limit int, ids []string) (map[string]StoryItems, error) {
	stories := map[string]StoryItems{}
	for _, id := range ids {
		story, err := s.ReadStory(ctx, id, limit)
		switch {
		case err == nil:
			stories[id] = story
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
	}
	return stories, nil
}
