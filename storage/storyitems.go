package storage

import (
	"cmp"
	"context"
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

// ItemsOfStory returns the result of [Stories.ReadStories] for one story, or [ErrNotFound] if it has no items.
func ItemsOfStory(ctx context.Context, from Stories, id string, limit int) (StoryItems, error) {
	stories, err := from.ReadStories(ctx, limit, id)
	return oneOf(stories, id, err)
}

// StoryByID returns the stored summary of the story, or [ErrNotFound].
func StoryByID(ctx context.Context, from Stories, id string) (Story, error) {
	stories, err := from.StoriesByID(ctx, id)
	return oneOf(stories, id, err)
}

// oneOf returns the result with the ID, or [ErrNotFound].
func oneOf[T any](all map[string]T, id string, err error) (one T, _ error) {
	if err != nil {
		return one, err
	}
	one, ok := all[id]
	if !ok {
		err = ErrNotFound
	}
	return one, err
}
