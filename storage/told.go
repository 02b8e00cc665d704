package storage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Told is what a story is made of.
type Told struct {
	Items  []Item // the newest of them
	Count  int    // of all
	Events int    // different ones among all
	First  time.Time
	Last   time.Time // FirstSeen of all
	Clicks int       // on all
}

// ToldOf returns what a story is made of that has these items, at least one, and puts
// them in order.
func ToldOf(items []Item) Told {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(b.FirstSeen.Compare(a.FirstSeen), cmp.Compare(a.ID, b.ID))
	})
	told := Told{Items: items, Count: len(items), First: items[len(items)-1].FirstSeen, Last: items[0].FirstSeen}
	events := map[string]bool{}
	for _, item := range items {
		events[item.EventID] = true
		told.Clicks += item.Clicks
	}
	told.Events = len(events)
	return told
}

// ReadEach is [Stories.ReadStories] by one [Stories.ReadStory] after the other.
func ReadEach(ctx context.Context, s interface {
	ReadStory(ctx context.Context, id string, limit int) (Told, error)
}, limit int, ids []string) (map[string]Told, error) {
	stories := map[string]Told{}
	for _, id := range ids {
		told, err := s.ReadStory(ctx, id, limit)
		switch {
		case err == nil:
			stories[id] = told
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
	}
	return stories, nil
}
