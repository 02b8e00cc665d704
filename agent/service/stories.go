package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	// briefItems is the number of newest items of each story that are read for a list.
	briefItems = 24

	maxPublishers = 5

	// maxHours is the maximum age of the first hour.
	maxHours = 7 * 24
)

func (s *Server) storyRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/stories", "list-stories", "List stories carried by several publishers, highest rank first", 400, 503),
		func(ctx context.Context, in *wire.StorySearch) (*body[wire.StoryPage], error) {
			page, err := s.Stories(ctx, *in)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.StoryPage]{Body: page}, nil
		})
	huma.Register(api, op("GET", "/api/stories/{id}", "get-story", "One story: its events in time order, each with its items", 404, 503),
		func(ctx context.Context, in *byID) (*body[wire.StoryView], error) {
			story, err := s.Story(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.StoryView]{Body: story}, nil
		})
	huma.Register(api, op("GET", "/api/bursts", "list-bursts", "List bursts: stories, categories and topics with more items than usual", 503), s.listBursts)
	s.storyEditRoutes(api)
	s.duplicateRoutes(api)
}

// Stories returns a page of stories. It returns [storage.ErrBadCursor] for a cursor of another list.
func (s *Server) Stories(ctx context.Context, q wire.StorySearch) (wire.StoryPage, error) {
	stories, next, err := s.Store.ListStories(ctx, storage.StoryQuery{
		Partition: q.Language, Category: q.Category, Topic: q.Topic, After: q.After, Before: q.Before,
		Sources: q.Sources, Newest: q.Sort == "newest", Limit: q.Limit, Cursor: q.Cursor,
	})
	if err != nil {
		return wire.StoryPage{}, fmt.Errorf("list stories: %w", err)
	}
	headlines := make([]string, len(stories))
	for i, story := range stories {
		headlines[i] = story.Headline
	}
	items, err := s.Store.Items(ctx, headlines...)
	if err != nil {
		return wire.StoryPage{}, fmt.Errorf("read the headlines: %w", err)
	}
	page := wire.StoryPage{Stories: make([]wire.StoryBrief, len(stories)), Next: next}
	titles := s.titles(ctx)
	for i, story := range stories {
		stored, err := s.readStory(ctx, story.ID, briefItems)
		if err != nil {
			return wire.StoryPage{}, err
		}
		newest := placement.CountedItems(stored.Items)
		brief := wire.StoryBrief{Story: story, Activity: activityOf(newest), Why: storyReason(newest)}
		if at := slices.IndexFunc(items, func(i storage.Item) bool { return i.ID == story.Headline }); at >= 0 {
			headline := items[at]
			brief.URL, brief.FeedID, brief.FeedTitle = headline.URL, headline.FeedID, titles(headline.FeedID)
			newest = slices.Insert(newest, 0, headline)
		}
		brief.Publishers = somePublishers(newest, titles)
		page.Stories[i] = brief
	}
	return page, nil
}

// somePublishers returns the names of the first publishers among items.
func somePublishers(items []storage.Item, titles func(feedID string) string) []string {
	names := []string{}
	for _, i := range items {
		if name := publisher(i, titles); len(names) < maxPublishers && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// storyReason returns the reason of the first item that joined an existing event, or "".
func storyReason(items []storage.Item) string {
	for _, i := range items {
		if i.EventID != storage.EventID(i.ID) && i.StoryReason != "" {
			return i.StoryReason
		}
	}
	return ""
}

// publisher returns the name of an item's publisher.
func publisher(i storage.Item, titles func(feedID string) string) string {
	if name := placement.Publisher(i); name != i.FeedID {
		return name
	}
	return titles(i.FeedID)
}

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
