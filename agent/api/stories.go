package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/tell"
	"feedmesh/storage"
)

// A StorySearch is which stories to list.
type StorySearch struct {
	Language string    `query:"language" enum:"en,ru,de,fr,es,uk,other" doc:"All languages but these are other."`
	Category string    `query:"category" maxLength:"64"`
	Topic    string    `query:"topic" maxLength:"64"`
	After    time.Time `query:"after" doc:"Something new came at or after."`
	Before   time.Time `query:"before" doc:"Began before."`
	Sources  int       `query:"sources" minimum:"1" maximum:"1000" default:"2" doc:"Told by at least so many publishers."`
	Sort     string    `query:"sort" enum:"rank,newest" default:"rank"`
	Limit    int       `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Cursor   string    `query:"cursor" maxLength:"4096" doc:"Next of the page before."`
}

// A StoryPage is a page of stories.
type StoryPage struct {
	Stories []StoryBrief `json:"stories"`
	Next    string       `json:"next,omitempty" doc:"Cursor of the next page; absent on the last."`
}

// A StoryBrief is a story as lists have it.
type StoryBrief struct {
	storage.Story
	URL        string   `json:"url,omitempty" doc:"Where the headline's item is on the web."`
	FeedID     string   `json:"feed_id,omitempty" doc:"Of the headline's item; absent if that has gone."`
	FeedTitle  string   `json:"feed_title"`
	Publishers []string `json:"publishers" doc:"Some of those that tell of it, the headline's first; five at most."`
	Activity   Activity `json:"activity" doc:"When its newest items came."`
	Why        string   `json:"why,omitempty" doc:"Why the newest of them that began nothing of its own belongs to it, in words."`
}

// An Activity says how many items came in each hour.
type Activity struct {
	Since time.Time `json:"since,omitzero" doc:"When the first hour begins."`
	Hours []int     `json:"hours" doc:"Items first seen in each hour, to that of the newest; a week at most."`
}

const (
	// briefItems is how many items of each story are read for a list, the newest.
	briefItems = 24

	maxPublishers = 5

	// maxHours is how far back an activity goes.
	maxHours = 7 * 24
)

func (s *Server) storyRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/stories", "list-stories", "What several publishers tell of, the most talked of first", 400, 503),
		func(ctx context.Context, in *StorySearch) (*body[StoryPage], error) {
			page, err := s.Stories(ctx, *in)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[StoryPage]{Body: page}, nil
		})
	huma.Register(api, op("GET", "/api/stories/{id}", "get-story", "One story: its events in time order, each with its items", 404, 503),
		func(ctx context.Context, in *byID) (*body[StoryView], error) {
			story, err := s.Story(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[StoryView]{Body: story}, nil
		})
	huma.Register(api, op("GET", "/api/bursts", "list-bursts", "What items come of more often than they used to", 503), s.listBursts)
	s.storyHandRoutes(api)
	s.duplicateRoutes(api)
}

// Stories returns a page of stories. A cursor of another list is refused with
// [storage.ErrBadCursor].
func (s *Server) Stories(ctx context.Context, q StorySearch) (StoryPage, error) {
	stories, next, err := s.Store.ListStories(ctx, storage.StoryQuery{
		Lane: q.Language, Category: q.Category, Topic: q.Topic, After: q.After, Before: q.Before,
		Sources: q.Sources, Newest: q.Sort == "newest", Limit: q.Limit, Cursor: q.Cursor,
	})
	if err != nil {
		return StoryPage{}, fmt.Errorf("list stories: %w", err)
	}
	headlines := make([]string, len(stories))
	for i, story := range stories {
		headlines[i] = story.Headline
	}
	items, err := s.Store.Items(ctx, headlines...)
	if err != nil {
		return StoryPage{}, fmt.Errorf("read the headlines: %w", err)
	}
	page := StoryPage{Stories: make([]StoryBrief, len(stories)), Next: next}
	titles := s.titles(ctx)
	for i, story := range stories {
		told, err := s.readStory(ctx, story.ID, briefItems)
		if err != nil {
			return StoryPage{}, err
		}
		newest := tell.Heard(told.Items)
		brief := StoryBrief{Story: story, Activity: activityOf(newest), Why: whyTogether(newest)}
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

// whyTogether returns why the first of the items that did not begin its event
// belongs to it, empty if none says so.
func whyTogether(items []storage.Item) string {
	for _, i := range items {
		if i.EventID != storage.EventID(i.ID) && i.StoryWhy != "" {
			return i.StoryWhy
		}
	}
	return ""
}

// publisher returns the name of who published an item.
func publisher(i storage.Item, titles func(feedID string) string) string {
	if name := tell.Publisher(i); name != i.FeedID {
		return name
	}
	return titles(i.FeedID)
}

// activityOf counts items, newest first, by the hour in which they came.
func activityOf(items []storage.Item) Activity {
	if len(items) == 0 {
		return Activity{Hours: []int{}}
	}
	hour := func(i storage.Item) time.Time { return i.FirstSeen.Truncate(time.Hour) }
	last := hour(items[0])
	since := hour(items[len(items)-1])
	if earliest := last.Add(-(maxHours - 1) * time.Hour); since.Before(earliest) {
		since = earliest
	}
	a := Activity{Since: since, Hours: make([]int, 1+int(last.Sub(since)/time.Hour))}
	for _, i := range items {
		if h := hour(i); !h.Before(since) {
			a.Hours[int(h.Sub(since)/time.Hour)]++
		}
	}
	return a
}
