package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/service/front"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	// briefItems is the number of newest items of each story that are read for a list.
	briefItems = 24

	maxPublishers = 5

	// relatedItems is the number of items of a story that are read to find related items.
	relatedItems = 200
)

// Stories answers requests about stories.
type Stories struct{ *core }

// List returns a page of stories. It returns [storage.ErrBadCursor] for a cursor of another list.
func (s *Stories) List(ctx context.Context, q wire.StorySearch) (wire.StoryPage, error) {
	list := s.Store.ListStories
	if q.Sort == "longest" {
		list = s.longest
	}
	stories, next, err := list(ctx, storage.StoryQuery{
		Partition: q.Language, Category: q.Category, Topic: q.Topic, After: q.After, Before: q.Before,
		Sources: q.Sources, Newest: q.Sort == "newest", Limit: q.Limit, Cursor: q.Cursor,
	})
	if err != nil {
		return wire.StoryPage{}, fmt.Errorf("list stories: %w", err)
	}
	items, err := s.Store.Items(ctx, convert(stories, func(story storage.Story) string { return story.Headline })...)
	if err != nil {
		return wire.StoryPage{}, fmt.Errorf("read the headlines: %w", err)
	}
	page := wire.StoryPage{Stories: make([]wire.StoryBrief, len(stories)), Next: next}
	titles := s.titles(ctx)
	for i, story := range stories {
		stored, err := s.read(ctx, story.ID, briefItems)
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

// Related returns other items of an item's story, without its duplicates. It returns
// [storage.ErrNotFound] if the item does not exist.
func (s *Stories) Related(ctx context.Context, in wire.ListRelatedRequest) (wire.Related, error) {
	item, err := storage.ItemByID(ctx, s.Store, in.ID)
	if err != nil {
		return wire.Related{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	stored, err := s.read(ctx, item.StoryID, relatedItems)
	if err != nil || stored.Count == 0 {
		return wire.Related{Items: []wire.ItemBrief{}}, err
	}
	story, err := s.summarize(ctx, item.StoryID, stored)
	if err != nil {
		return wire.Related{}, err
	}
	var newest, others []storage.Item
	seen := map[string]bool{placement.Publisher(item): true}
	for _, i := range stored.Items {
		switch p := placement.Publisher(i); {
		case firstID(i) == firstID(item):
		case seen[p]:
			others = append(others, i)
		default:
			seen[p], newest = true, append(newest, i)
		}
	}
	related := append(newest, others...)
	return wire.Related{Story: story, Items: briefsOf(related[:min(in.Limit, len(related))], s.titles(ctx))}, nil
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

// activityOf counts items by the hour of their time.
func activityOf(items []storage.Item) wire.HourlyItems {
	if len(items) == 0 {
		return wire.HourlyItems{Hours: []int{}}
	}
	hour := func(i storage.Item) time.Time { return i.Time().Truncate(time.Hour) }
	since, last := hour(items[0]), hour(items[0])
	for _, i := range items {
		if h := hour(i); h.Before(since) {
			since = h
		} else if h.After(last) {
			last = h
		}
	}
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
	v.Across = s.across(ctx, story, stored.Items)
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
	byEvent := map[string][]storage.Item{}
	for _, i := range slices.Backward(items) {
		byEvent[i.EventID] = append(byEvent[i.EventID], i)
		n, known := numbers[i.EventID]
		if !known {
			n = len(events)
			numbers[i.EventID], events = n, append(events, wire.StoryEvent{ID: i.EventID, FirstSeen: i.Time(), LastSeen: i.Time()})
		}
		e := &events[n]
		if at := i.Time(); at.Before(e.FirstSeen) {
			e.FirstSeen = at
		} else if at.After(e.LastSeen) {
			e.LastSeen = at
		}
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
	for n := range events {
		events[n].Title = placement.Headline(byEvent[events[n].ID])
	}
	return events
}

// Bursts returns the bursts with the most items.
func (s *Stories) Bursts(ctx context.Context, in wire.ListBurstsRequest) (wire.Bursts, error) {
	note, err := storage.Notes(s.Store).Read(ctx, placement.BurstsNote)
	if err != nil {
		return wire.Bursts{}, fmt.Errorf("read what bursts: %w", err)
	}
	var all []placement.Burst
	if len(note) > 0 {
		if err := json.Unmarshal(note, &all); err != nil {
			return wire.Bursts{}, fmt.Errorf("read what bursts: %w", err)
		}
	}
	all = slices.DeleteFunc(all, func(b placement.Burst) bool { return in.Of != "" && b.Of != in.Of || b.Of == placement.OfView })
	slices.SortStableFunc(all, func(a, b placement.Burst) int { return cmp.Compare(b.Items, a.Items) })
	bursts := wire.Bursts{Bursts: []wire.Burst{}, Total: len(all)}
	for _, b := range all[:min(in.Limit, len(all))] {
		burst := wire.Burst{Of: b.Of, Name: b.Name, Since: b.Since, Items: b.Items}
		if b.Of == placement.OfStory {
			story, err := storage.StoryByID(ctx, s.Store, b.Name)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return wire.Bursts{}, fmt.Errorf("read story %s: %w", b.Name, err)
			}
			burst.Title = story.Title
		}
		bursts.Bursts = append(bursts.Bursts, burst)
	}
	return bursts, nil
}

const (
	// longestOf is the number of stories of highest rank that are sorted by length.
	longestOf = 500

	// chainHalfLife is the time since a story's last item after which it must be twice as long for the same place.
	chainHalfLife = 24 * time.Hour
)

// A chainPosition is the sort key of a story in a list by length and freshness.
type chainPosition struct {
	Score *float64 `json:"c"`
	ID    string   `json:"s"`
}

// chainPositionOf returns the position of a story: the logarithm of its length decays with the age of its last item.
// Times count from a fixed origin, so that the order does not change while no items arrive.
//
// Source: infostream.ua chooses chains of documents by length and freshness.
func chainPositionOf(s storage.Story) chainPosition {
	score := math.Log2(float64(max(1, s.Items))) + float64(s.LastSeen.Unix())/chainHalfLife.Seconds()
	return chainPosition{&score, s.ID}
}

func (p chainPosition) compare(q chainPosition) int {
	return cmp.Or(cmp.Compare(*q.Score, *p.Score), cmp.Compare(p.ID, q.ID))
}

// longest returns a page of the stories of highest rank that match, by length and freshness.
func (s *Stories) longest(ctx context.Context, q storage.StoryQuery) (page []storage.Story, next string, err error) {
	var after chainPosition
	if q.Cursor != "" && (storage.UnpackCursor(q.Cursor, &after) != nil || after.Score == nil || after.ID == "") {
		return nil, "", storage.ErrBadCursor
	}
	size := q.PageSize()
	q.Newest, q.Limit, q.Cursor = false, storage.MaxLimit, ""
	var all []storage.Story
	for len(all) < longestOf {
		some, more, err := s.Store.ListStories(ctx, q)
		if err != nil {
			return nil, "", err
		}
		all = append(all, some...)
		if q.Cursor = more; more == "" {
			break
		}
	}
	if after.Score != nil {
		all = slices.DeleteFunc(all, func(story storage.Story) bool { return chainPositionOf(story).compare(after) <= 0 })
	}
	slices.SortFunc(all, func(a, b storage.Story) int { return chainPositionOf(a).compare(chainPositionOf(b)) })
	if len(all) <= size {
		return all, "", nil
	}
	return all[:size], storage.PackCursor(chainPositionOf(all[size-1])), nil
}

// Follows answers requests about what a client follows and mutes.
type Follows struct{ pages *front.Pages }

// List returns what the client follows and mutes.
func (f *Follows) List(ctx context.Context, _ wire.None) (wire.Follows, error) {
	all, err := f.pages.Follows(ctx)
	return wire.Follows{Follows: append([]storage.Follow{}, all...)}, err
}

// Put follows or mutes something.
func (f *Follows) Put(ctx context.Context, in wire.PutFollowRequest) (storage.Follow, error) {
	follow, err := f.pages.Put(ctx, in.Kind, in.Value, in.Body.Mute)
	switch {
	case errors.Is(err, front.ErrValue):
		return follow, &Error{KindInvalid, "nothing was changed", []FieldError{fieldf("path.value", "%v", err)}}
	case errors.Is(err, storage.ErrTooMany):
		return follow, errorf(KindConflict, "the client follows and mutes %d things, as many as it may: remove one first", storage.MaxFollows)
	}
	return follow, err
}

// Remove ends following or muting something. It returns [storage.ErrNotFound] if the client does neither.
func (f *Follows) Remove(ctx context.Context, in wire.FollowName) (wire.None, error) {
	if err := f.pages.Remove(ctx, in.Kind, in.Value); err != nil {
		return wire.None{}, fmt.Errorf("%s %s: %w", in.Kind, in.Value, err)
	}
	return wire.None{}, nil
}
