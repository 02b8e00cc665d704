package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedmesh/agent/tell"
	"feedmesh/storage"
)

// A StoryView is a story, whole.
type StoryView struct {
	storage.Story
	Summary    []Quote      `json:"summary" doc:"Sentences of different publishers."`
	Publishers []Publisher  `json:"publishers" doc:"Who tells of it, with most items first."`
	Timeline   []StoryEvent `json:"timeline" doc:"Its events, the first first."`
	Activity   Activity     `json:"activity" doc:"When its items came."`
	Pending    bool         `json:"pending,omitempty" doc:"What was decided is accepted, and not done yet."`
	Notes      []string     `json:"notes,omitempty" doc:"What is to be known of this answer, in words."`
}

// A Quote is a sentence and the item it is taken from.
type Quote struct {
	Text string    `json:"text"`
	Item ItemBrief `json:"item"`
}

// A Publisher is who tells of a story.
type Publisher struct {
	Name  string `json:"name" doc:"Its host, or the title of its feed."`
	Items int    `json:"items"`
}

// A StoryEvent is what happened, with the items that tell of it, the first first.
type StoryEvent struct {
	ID        string      `json:"id"`
	FirstSeen time.Time   `json:"first_seen"`
	LastSeen  time.Time   `json:"last_seen"`
	Items     []StoryItem `json:"items"`
}

// A StoryItem is an item of a story with those that repeat it, the first first.
type StoryItem struct {
	ItemBrief
	Duplicates []ItemBrief `json:"duplicates,omitempty"`
}

// An ItemBrief is an item in a few words.
type ItemBrief struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	URL       string    `json:"url,omitempty"`
	FeedID    string    `json:"feed_id"`
	FeedTitle string    `json:"feed_title"`
	Publisher string    `json:"publisher"`
	Language  string    `json:"language,omitempty"`
	Seen      time.Time `json:"seen" doc:"When it was first fetched."`
	Spam      bool      `json:"spam,omitempty"`
	StoryID   string    `json:"story_id,omitempty"`
	EventID   string    `json:"event_id,omitempty"`
	StoryWhy  string    `json:"story_why,omitempty" doc:"Why it belongs to its event, in words."`

	DuplicateOf    string  `json:"duplicate_of,omitempty" doc:"The first of its kind; absent for that one."`
	DuplicateBy    string  `json:"duplicate_by,omitempty" enum:"text,url,title,body,hand"`
	DuplicateScore float64 `json:"duplicate_score,omitempty" doc:"How much they share, up to 1."`
	DuplicateWhy   string  `json:"duplicate_why,omitempty" doc:"That in words."`
}

// briefOf returns the item in a few words.
func briefOf(i storage.Item, titles func(feedID string) string) ItemBrief {
	return ItemBrief{
		ID: i.ID, Title: i.Title, URL: i.URL, FeedID: i.FeedID, FeedTitle: titles(i.FeedID), Publisher: publisher(i, titles),
		Language: i.Language, Seen: i.FirstSeen, Spam: i.Spam, StoryID: i.StoryID, EventID: i.EventID, StoryWhy: i.StoryWhy,
		DuplicateOf: i.DuplicateOf, DuplicateBy: i.DuplicateBy, DuplicateScore: i.DuplicateScore, DuplicateWhy: i.DuplicateWhy,
	}
}

func briefsOf(items []storage.Item, titles func(feedID string) string) []ItemBrief {
	briefs := make([]ItemBrief, len(items))
	for n, i := range items {
		briefs[n] = briefOf(i, titles)
	}
	return briefs
}

// Story returns a story, whole, with the newest of its items where there are very
// many. It returns [storage.ErrNotFound] if no item belongs to it.
func (s *Server) Story(ctx context.Context, id string) (StoryView, error) {
	told, err := s.readStory(ctx, id, tell.MaxRead)
	if err != nil {
		return StoryView{}, err
	}
	if told.Count == 0 {
		return StoryView{}, fmt.Errorf("story %s: %w", id, storage.ErrNotFound)
	}
	story, err := s.tell(ctx, id, told)
	if err != nil {
		return StoryView{}, err
	}
	titles, heard := s.titles(ctx), tell.Heard(told.Items)
	v := StoryView{
		Story: story, Publishers: publishersOf(heard, titles), Timeline: timelineOf(told.Items, titles), Activity: activityOf(heard),
	}
	if v.Summary, err = s.quotes(ctx, story, told.Items, titles); err != nil {
		return StoryView{}, err
	}
	if told.Count > len(told.Items) {
		v.Notes = append(v.Notes, fmt.Sprintf("it has %d items; these are the %d newest", told.Count, len(told.Items)))
	}
	return v, nil
}

// readStory returns what a story is made of. One that is no more has nothing: what
// a list says may be seconds old.
func (s *Server) readStory(ctx context.Context, id string, limit int) (storage.Told, error) {
	told, err := s.Store.ReadStory(ctx, id, limit)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return told, fmt.Errorf("read story %s: %w", id, err)
	}
	return told, nil
}

// tell returns what is told of a story: what the store has of it, or if that is
// not yet what its items say, what will be told soon.
func (s *Server) tell(ctx context.Context, id string, of storage.Told) (storage.Story, error) {
	stored, err := s.Store.Story(ctx, id)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return stored, fmt.Errorf("what is told of story %s: %w", id, err)
	}
	fresh, ok := tell.Story(id, of, func(string) float64 { return 1 }, stored.Burst, s.Now())
	switch {
	case !ok:
		return untold(id, of), nil
	case err != nil:
		return fresh, nil
	case stored.Items == fresh.Items && stored.Events == fresh.Events && stored.FirstSeen.Equal(fresh.FirstSeen) && stored.LastSeen.Equal(fresh.LastSeen):
		stored.Clicks = fresh.Clicks
		return stored, nil
	}
	fresh.Heat, fresh.Rank = stored.Heat, stored.Rank // by what feeds count, which only who tells of stories knows
	return fresh, nil
}

// untold returns what is to be said of items that make no story to be told, such as
// one alone.
func untold(id string, of storage.Told) storage.Story {
	first := of.Items[len(of.Items)-1]
	sources := map[string]bool{}
	for _, i := range of.Items {
		sources[tell.Publisher(i)] = true
	}
	return storage.Story{
		ID: id, Lane: first.Lane, Headline: first.ID, Title: first.Title, Items: of.Count, Events: of.Events, Sources: len(sources),
		FirstSeen: of.First, LastSeen: of.Last, Categories: first.Categories, Topics: first.Topics, Clicks: of.Clicks,
	}
}

// quotes returns the story's summary with the items it is taken from; what has
// gone since is left out.
func (s *Server) quotes(ctx context.Context, story storage.Story, items []storage.Item, titles func(string) string) ([]Quote, error) {
	quotes := []Quote{}
	for _, line := range story.Summary {
		at := slices.IndexFunc(items, func(i storage.Item) bool { return i.ID == line.ItemID })
		if at >= 0 {
			quotes = append(quotes, Quote{line.Text, briefOf(items[at], titles)})
			continue
		}
		item, err := s.Store.Item(ctx, line.ItemID) // older than those that were read
		switch {
		case err == nil:
			quotes = append(quotes, Quote{line.Text, briefOf(item, titles)})
		case !errors.Is(err, storage.ErrNotFound):
			return nil, fmt.Errorf("item %s: %w", line.ItemID, err)
		}
	}
	return quotes, nil
}

// publishersOf counts items by who published them.
func publishersOf(items []storage.Item, titles func(string) string) []Publisher {
	counts := map[string]int{}
	for _, i := range items {
		counts[publisher(i, titles)]++
	}
	list := make([]Publisher, 0, len(counts))
	for name, n := range counts {
		list = append(list, Publisher{name, n})
	}
	slices.SortFunc(list, func(a, b Publisher) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// timelineOf returns the events of items, which come newest first: each item below
// the one it repeats, if that is of the same event.
func timelineOf(items []storage.Item, titles func(string) string) []StoryEvent {
	events := []StoryEvent{}
	type place struct{ event, item int }
	numbers, firsts := map[string]int{}, map[string]place{} // by ID of an event, and of an item
	for _, i := range slices.Backward(items) {
		n, known := numbers[i.EventID]
		if !known {
			n = len(events)
			numbers[i.EventID], events = n, append(events, StoryEvent{ID: i.EventID, FirstSeen: i.FirstSeen})
		}
		e := &events[n]
		e.LastSeen = i.FirstSeen
		if i.DuplicateOf == "" {
			firsts[i.ID] = place{n, len(e.Items)}
			e.Items = append(e.Items, StoryItem{ItemBrief: briefOf(i, titles)})
		}
	}
	for _, i := range slices.Backward(items) {
		if i.DuplicateOf == "" {
			continue
		}
		n := numbers[i.EventID]
		e := &events[n]
		if first, known := firsts[i.DuplicateOf]; known && first.event == n {
			e.Items[first.item].Duplicates = append(e.Items[first.item].Duplicates, briefOf(i, titles))
		} else { // what it repeats is elsewhere, or too old to be read
			e.Items = append(e.Items, StoryItem{ItemBrief: briefOf(i, titles)})
		}
	}
	return events
}
