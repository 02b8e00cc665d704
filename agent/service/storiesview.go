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

// Get returns a story, with its newest items if it has very many. It returns [storage.ErrNotFound] if no
// item belongs to it.
func (s *Stories) Get(ctx context.Context, in wire.ByID) (wire.StoryView, error) {
	stored, err := s.read(ctx, in.ID, placement.MaxItems)
	if err != nil {
		return wire.StoryView{}, err
	}
	if stored.Count == 0 {
		return wire.StoryView{}, fmt.Errorf("story %s: %w", in.ID, storage.ErrNotFound)
	}
	story, err := s.summarize(ctx, in.ID, stored)
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

// quotes returns the story's summary with its items; sentences of removed items are skipped.
func (s *Stories) quotes(ctx context.Context, story storage.Story, items []storage.Item, titles func(string) string) ([]wire.Quote, error) {
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
