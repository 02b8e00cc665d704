package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// read returns the items of a story; none for a story that is gone, since lists may be seconds old.
func (s *Stories) read(ctx context.Context, id string, limit int) (storage.StoryItems, error) {
	stored, err := storage.ItemsOfStory(ctx, s.Store, id, limit)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return stored, fmt.Errorf("read story %s: %w", id, err)
	}
	return stored, nil
}

// summarize returns the stored summary of a story, or a fresh one if its items have changed since.
func (s *Stories) summarize(ctx context.Context, id string, of storage.StoryItems) (storage.Story, error) {
	stored, err := storage.StoryByID(ctx, s.Store, id)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return stored, fmt.Errorf("read story %s: %w", id, err)
	}
	fresh, ok := placement.Summarize(id, of, func(string) float64 { return 1 }, stored.Burst, s.Now())
	switch {
	case !ok:
		return unsummarized(id, of), nil
	case err != nil:
		return fresh, nil
	case stored.Items == fresh.Items && stored.Events == fresh.Events && stored.FirstSeen.Equal(fresh.FirstSeen) && stored.LastSeen.Equal(fresh.LastSeen):
		stored.Clicks = fresh.Clicks
		return stored, nil
	}
	fresh.HotScore, fresh.Rank = stored.HotScore, stored.Rank // they depend on the feeds' weights, which only the summarizer reads
	return fresh, nil
}

// unsummarized returns items that have no summary, such as a single item, as a story.
func unsummarized(id string, of storage.StoryItems) storage.Story {
	first := of.Items[len(of.Items)-1]
	sources := map[string]bool{}
	for _, i := range of.Items {
		sources[placement.Publisher(i)] = true
	}
	return storage.Story{
		ID: id, Partition: first.Partition, Headline: first.ID, Title: first.Title, Items: of.Count, Events: of.Events, Sources: len(sources),
		FirstSeen: of.FirstSeen, LastSeen: of.LastSeen, Categories: first.Categories, Topics: first.Topics, Clicks: of.Clicks,
	}
}

// maxHours is the maximum age of the first hour of an activity.
const maxHours = 7 * 24

// activityOf counts items, newest first, by the hour in which they were first seen.
func activityOf(items []storage.Item) wire.HourlyItems {
	if len(items) == 0 {
		return wire.HourlyItems{Hours: []int{}}
	}
	hour := func(i storage.Item) time.Time { return i.FirstSeen.Truncate(time.Hour) }
	last := hour(items[0])
	since := hour(items[len(items)-1])
	if earliest := last.Add(-(maxHours - 1) * time.Hour); since.Before(earliest) {
		since = earliest
	}
	a := wire.HourlyItems{Since: since, Hours: make([]int, 1+int(last.Sub(since)/time.Hour))}
	for _, i := range items {
		if h := hour(i); !h.Before(since) {
			a.Hours[int(h.Sub(since)/time.Hour)]++
		}
	}
	return a
}
