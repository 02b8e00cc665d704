package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// specOf returns an item without its text.
func briefOf(i storage.Item, titles func(feedID string) string) wire.ItemBrief {
	return wire.ItemBrief{
		ID: i.ID, Title: i.Title, URL: i.URL, FeedID: i.FeedID, FeedTitle: titles(i.FeedID), Publisher: publisher(i, titles),
		Language: i.Language, Seen: i.FirstSeen, Spam: i.Spam, StoryID: i.StoryID, EventID: i.EventID, StoryWhy: i.StoryReason,
		DuplicateOf: i.DuplicateOf, DuplicateBy: i.DuplicateBy, DuplicateScore: i.DuplicateScore, DuplicateWhy: i.DuplicateReason,
	}
}

func briefsOf(items []storage.Item, titles func(feedID string) string) []wire.ItemBrief {
	briefs := make([]wire.ItemBrief, len(items))
	for n, i := range items {
		briefs[n] = briefOf(i, titles)
	}
	return briefs
}

// Story returns a story, with its newest items if it has very many. It returns [storage.ErrNotFound] if no
// item belongs to it.
func (s *Server) Story(ctx context.Context, id string) (wire.StoryView, error) {
	stored, err := s.readStory(ctx, id, placement.MaxItems)
	if err != nil {
		return wire.StoryView{}, err
	}
	if stored.Count == 0 {
		return wire.StoryView{}, fmt.Errorf("story %s: %w", id, storage.ErrNotFound)
	}
	story, err := s.summarize(ctx, id, stored)
	if err != nil {
		return wire.StoryView{}, err
	}
	titles, counted := s.titles(ctx), placement.CountedItems(stored.Items)
	v := wire.StoryView{
		Story: story, Publishers: publishersOf(counted, titles), Timeline: timelineOf(stored.Items, titles), Activity: activityOf(counted),
	}
	if v.Summary, err = s.quotes(ctx, story, stored.Items, titles); err != nil {
		return wire.StoryView{}, err
	}
	if stored.Count > len(stored.Items) {
		v.Notes = append(v.Notes, fmt.Sprintf("it has %d items; these are the %d newest", stored.Count, len(stored.Items)))
	}
	return v, nil
}

// readStory returns the items of a story; none for a story that is gone, since lists may be seconds old.
func (s *Server) readStory(ctx context.Context, id string, limit int) (storage.StoryItems, error) {
	stored, err := storage.ItemsOfStory(ctx, s.Store, id, limit)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return stored, fmt.Errorf("read story %s: %w", id, err)
	}
	return stored, nil
}

// summarize returns the stored summary of a story, or a fresh one if its items have changed since.
func (s *Server) summarize(ctx context.Context, id string, of storage.StoryItems) (storage.Story, error) {
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

// quotes returns the story's summary with its items; sentences of removed items are skipped.
func (s *Server) quotes(ctx context.Context, story storage.Story, items []storage.Item, titles func(string) string) ([]wire.Quote, error) {
	quotes := []wire.Quote{}
	for _, line := range story.Summary {
		at := slices.IndexFunc(items, func(i storage.Item) bool { return i.ID == line.ItemID })
		if at >= 0 {
			quotes = append(quotes, wire.Quote{Text: line.Text, Item: briefOf(items[at], titles)})
			continue
		}
		item, err := storage.ItemByID(ctx, s.Store, line.ItemID) // older than the items read
		switch {
		case err == nil:
			quotes = append(quotes, wire.Quote{Text: line.Text, Item: briefOf(item, titles)})
		case !errors.Is(err, storage.ErrNotFound):
			return nil, fmt.Errorf("item %s: %w", line.ItemID, err)
		}
	}
	return quotes, nil
}

// publishersOf counts items by publisher.
func publishersOf(items []storage.Item, titles func(string) string) []wire.Publisher {
	counts := map[string]int{}
	for _, i := range items {
		counts[publisher(i, titles)]++
	}
	list := make([]wire.Publisher, 0, len(counts))
	for name, n := range counts {
		list = append(list, wire.Publisher{Name: name, Items: n})
	}
	slices.SortFunc(list, func(a, b wire.Publisher) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// timelineOf returns the events of items, which come newest first, with each duplicate below its original if
// that is in the same event.
func timelineOf(items []storage.Item, titles func(string) string) []wire.StoryEvent {
	events := []wire.StoryEvent{}
	type place struct{ event, item int }
	numbers, firsts := map[string]int{}, map[string]place{} // by ID of an event, and of an item
	for _, i := range slices.Backward(items) {
		n, known := numbers[i.EventID]
		if !known {
			n = len(events)
			numbers[i.EventID], events = n, append(events, wire.StoryEvent{ID: i.EventID, FirstSeen: i.FirstSeen})
		}
		e := &events[n]
		e.LastSeen = i.FirstSeen
		if i.DuplicateOf == "" {
			firsts[i.ID] = place{n, len(e.Items)}
			e.Items = append(e.Items, wire.StoryItem{ItemBrief: briefOf(i, titles)})
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
		} else { // its original is in another event, or too old to be read
			e.Items = append(e.Items, wire.StoryItem{ItemBrief: briefOf(i, titles)})
		}
	}
	return events
}
