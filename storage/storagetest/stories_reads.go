package storagetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// withoutHTML returns the items as stored, without HTML.
func withoutHTML(c storeTest, items ...storage.Item) []storage.Item {
	c.Helper()
	var list []storage.Item
	for _, item := range items {
		item = c.stored(item.ID)
		item.HTML = ""
		list = append(list, item)
	}
	return list
}

// click adds clicks to an item.
func click(c storeTest, id string, n int) {
	c.Helper()
	if err := c.AddClicks(c.Context(), id, n); err != nil {
		c.Fatalf("click: %v", err)
	}
}

func readStory(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	var items []storage.Item
	for n := range 12 {
		item := placed([]string{a, b}[n%2], fmt.Sprint("key-", n), fmt.Sprint("event-", n%3), "story")
		item.FirstSeen, item.Spam = day.Add(time.Duration(n/5)*time.Minute), n%4 == 0
		item.Published = item.FirstSeen.Add(time.Second)
		if n == 0 {
			item.Published = day.Add(-time.Hour)
		}
		items = append(items, item)
		c.put(item, placed(item.FeedID, fmt.Sprint("other-", n), fmt.Sprint("event-", n%3), "another"))
	}
	click(c, items[3].ID, 2)
	click(c, items[8].ID, 5)
	slices.SortFunc(items, func(a, b storage.Item) int {
		if d := b.FirstSeen.Compare(a.FirstSeen); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	for _, limit := range []int{-1, 0, 1, 5, 12, 100} {
		want := storage.StoryItems{Count: 12, Events: 3, FirstSeen: day.Add(-time.Hour), LastSeen: day.Add(2 * time.Minute), Clicks: 7}
		want.Items = withoutHTML(c, items[:max(min(limit, 12), 0)]...)
		got, err := storage.ItemsOfStory(c.Context(), c, "story", limit)
		if err != nil {
			c.Fatal(err)
		}
		if len(got.Items) == 0 {
			got.Items = nil
		}
		c.wantEqual("the story's items", got, want)
	}
	for _, id := range []string{"nothing", ""} {
		_, err := storage.ItemsOfStory(c.Context(), c, id, 10)
		c.wantError("read a story of no items", err, storage.ErrNotFound)
	}
}

// summaryFields returns the items with only the fields that summaries need.
func summaryFields(items []storage.Item) (list []storage.Item) {
	for _, i := range items {
		list = append(list, storage.Item{
			ID: i.ID, FeedID: i.FeedID, EventID: i.EventID, StoryID: i.StoryID, Partition: i.Partition, URL: i.URL, Title: i.Title, Excerpt: i.Excerpt,
			Language: i.Language, FirstSeen: i.FirstSeen, Spam: i.Spam, Flags: i.Flags, Categories: i.Categories, Topics: i.Topics,
			DuplicateOf: i.DuplicateOf, Clicks: i.Clicks,
		})
	}
	return list
}

func readStories(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	ids := []string{"large", "nothing", "small", "", "alone", "small"}
	for n := range 9 {
		item := placed([]string{a, b}[n%2], fmt.Sprint("key-", n), fmt.Sprint("event-", n%4), []string{"large", "large", "small"}[n%3])
		item.FirstSeen = day.Add(time.Duration(n/5) * time.Minute)
		item.Spam, item.Flags, item.Topics = n%4 == 0, []string{storage.FlagMuted}, []string{"topic"}
		item.DuplicateOf = fmt.Sprint("other-", n%2)
		c.put(item)
		click(c, item.ID, 1+n)
	}
	c.put(placed(a, "alone", "event", "alone"), placed(a, "none", "", ""))
	for _, limit := range []int{-1, 0, 1, 3, 4, 100} {
		want := map[string]storage.StoryItems{}
		for _, id := range []string{"large", "small", "alone"} {
			story, err := storage.ItemsOfStory(c.Context(), c, id, limit)
			if err != nil {
				c.Fatal(err)
			}
			story.Items = summaryFields(story.Items)
			want[id] = story
		}
		got, err := c.ReadStories(c.Context(), limit, ids...)
		if err != nil {
			c.Fatal(err)
		}
		for id, story := range got {
			story.Items = summaryFields(story.Items)
			got[id] = story
		}
		c.wantEqual(fmt.Sprintf("what stories are made of, up to %d items", limit), got, want)
	}
	if got, err := c.ReadStories(c.Context(), 10); err != nil || len(got) != 0 {
		c.Errorf("of no stories there are %d, %v", len(got), err)
	}
}

func noStoryIsNone(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	c.put(placed(feedID, "a", "", ""), placed(feedID, "b", "", ""))
	wantDirty(c, "items of no story")
	_, err := storage.ItemsOfStory(c.Context(), c, "", 10)
	c.wantError("read the story of no ID", err, storage.ErrNotFound)
	if got, err := c.Duplicates(c.Context(), "", 10); err != nil || len(got) != 0 {
		c.Errorf("%d items are duplicates of no item, %v", len(got), err)
	}
	wantRearranged(c, storage.Rearrangement{Events: []storage.EventMove{{EventID: "", StoryID: "story"}}})
}

func duplicates(c storeTest) {
	a, b := c.addFeed("https://a.example/"), c.addFeed("https://b.example/")
	first := placed(a, "first", "event", "story")
	c.put(first)
	var want []storage.Item
	for n := range 9 {
		item := placed([]string{a, b}[n%2], fmt.Sprint("key-", n), "event", "story")
		item.FirstSeen, item.DuplicateOf = day.Add(-time.Duration(n/2)*time.Minute), first.ID
		other := placed(item.FeedID, fmt.Sprint("other-", n), "event", "story")
		other.DuplicateOf = "another"
		c.put(item, other)
		want = append(want, item)
	}
	slices.SortFunc(want, func(a, b storage.Item) int {
		if d := a.FirstSeen.Compare(b.FirstSeen); d != 0 {
			return d
		}
		return strings.Compare(a.ID, b.ID)
	})
	for _, limit := range []int{-1, 0, 1, 4, 9, 100} {
		got, err := c.Duplicates(c.Context(), first.ID, limit)
		if err != nil {
			c.Fatal(err)
		}
		if want := want[:max(min(limit, 9), 0)]; len(got) != 0 || len(want) != 0 {
			c.wantEqual("the duplicates", got, withoutHTML(c, want...))
		}
	}
	if got, err := c.Duplicates(c.Context(), want[0].ID, 10); err != nil || len(got) != 0 {
		c.Errorf("an item without duplicates has %d, %v", len(got), err)
	}
}

func clicks(c storeTest) {
	item := placed(c.addFeed("https://example.org/"), "key", "event", "story")
	input := item
	input.Clicks = 9 // counted by the store
	c.put(input)
	changed := c.stored(item.ID).Changed
	c.wantEqual("how often it was clicked", c.item(item.ID).Clicks, 0)
	click(c, item.ID, 1)
	click(c, item.ID, 3)
	item.Clicks = 4
	c.wantEqual("the item", c.item(item.ID), item)
	c.wantEqual("when it changed", c.stored(item.ID).Changed, changed)
	item.Hash, item.Revision = "hash-2", 2
	input = item
	input.Clicks = 0
	c.put(input)
	c.wantEqual("its next revision", c.item(item.ID), item)
	c.wantError("click a missing item", c.AddClicks(c.Context(), "nothing", 1), storage.ErrNotFound)
}

// sightings returns all sightings of a period, page by page.
func sightings(c storeTest, from, until time.Time, limit int) (all []storage.Sighting) {
	c.Helper()
	for after := (storage.Sighting{}); ; after = all[len(all)-1] {
		page, err := c.Sightings(c.Context(), from, until, after, limit)
		if err != nil {
			c.Fatal(err)
		}
		if len(page) > limit {
			c.Fatalf("a page of %d has %d sightings", limit, len(page))
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
	}
}

func sightingsInOrder(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	var items []storage.Item
	var want []storage.Sighting
	for n := range 40 {
		item := placed(feedID, fmt.Sprintf("key-%02d", n*7%40), "event", fmt.Sprint("story-", n))
		item.FirstSeen, item.Spam = day.Add(time.Duration(n/3)*time.Microsecond), n%10 == 9
		item.Partition = []string{"en", "ru", ""}[n%3]
		if n%4 == 0 {
			item.Categories, item.Topics = nil, nil
		}
		item.Published = day.Add(time.Duration(n%5-2) * time.Hour)
		items = append(items, item)
		if !item.Spam {
			want = append(want, storage.Sighting{ItemID: item.ID, Seen: item.FirstSeen, Archived: n%5 < 2, StoryID: item.StoryID, Categories: item.Categories, Topics: item.Topics})
		}
	}
	c.put(items...)
	slices.SortFunc(want, func(a, b storage.Sighting) int {
		if d := a.Seen.Compare(b.Seen); d != 0 {
			return d
		}
		return strings.Compare(a.ItemID, b.ItemID)
	})
	for _, limit := range []int{1, 2, 7, 100} {
		c.wantEqual("the list of sightings", sightings(c, day, day.Add(time.Hour), limit), want)
	}
	from, until := day.Add(2*time.Microsecond), day.Add(9*time.Microsecond)
	within := slices.DeleteFunc(slices.Clone(want), func(s storage.Sighting) bool { return s.Seen.Before(from) || !s.Seen.Before(until) })
	c.wantEqual("the list of sightings of a time", sightings(c, from, until, 4), within)
	page, err := c.Sightings(c.Context(), from, until, want[0], 100)
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the list after a sighting from before", page, within)
	for _, limit := range []int{0, -1} {
		if page, err := c.Sightings(c.Context(), day, until, storage.Sighting{}, limit); err != nil || len(page) != 0 {
			c.Errorf("a page of %d has %d sightings, %v", limit, len(page), err)
		}
	}
}

func recentEvents(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	for n, event := range []string{"old", "a", "b", "c", "a", "d"} {
		item := placed(feedID, fmt.Sprint(n), event, "story")
		item.Partition, item.FirstSeen = "en", day.Add(time.Duration(n)*time.Hour)
		item.Published = item.FirstSeen
		c.put(item)
	}
	other := placed(feedID, "other", "other", "story")
	other.Partition, other.FirstSeen, other.Published = "ru", day.Add(9*time.Hour), day.Add(9*time.Hour)
	tie := placed(feedID, "tie", "aa", "story")
	tie.Partition, tie.FirstSeen, tie.Published = "en", day.Add(5*time.Hour), day.Add(time.Hour)
	archived := placed(feedID, "archived", "archived", "story")
	archived.Partition, archived.FirstSeen, archived.Published = "en", day.Add(6*time.Hour), day.Add(time.Hour-1)
	c.put(other, tie, archived)
	for limit, want := range map[int][]string{-1: nil, 0: nil, 2: {"aa", "d"}, 4: {"aa", "d", "a", "c"}, 10: {"aa", "d", "a", "c", "b"}} {
		got, err := c.RecentEvents(c.Context(), "en", day.Add(time.Hour), limit)
		if err != nil || !slices.Equal(got, want) {
			c.Errorf("got %v, %v for %d, want %v", got, err, limit, want)
		}
	}
}

func eventItems(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	var want []storage.Item
	for n := range 40 {
		item := placed(feedID, fmt.Sprintf("key-%02d", n*7%40), fmt.Sprint("event-", n%4), "story")
		item.Partition, item.FirstSeen = []string{"en", "en", "ru"}[n%3], day.Add(time.Duration(n/3)*time.Microsecond)
		c.put(item)
		if n%4 < 2 && item.Partition == "en" && n/3 >= 2 && n/3 < 11 {
			want = append(want, item)
		}
	}
	slices.SortFunc(want, func(a, b storage.Item) int {
		return cmp.Or(a.FirstSeen.Compare(b.FirstSeen), strings.Compare(a.ID, b.ID))
	})
	from, until := day.Add(2*time.Microsecond), day.Add(11*time.Microsecond)
	events := []string{"event-0", "event-1", "nothing"}
	for _, limit := range []int{1, 3, 100} {
		var got []storage.Item
		for after := (storage.Item{}); ; after = got[len(got)-1] {
			page, err := c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", Events: events, From: from, Until: until}, after, limit)
			if err != nil || len(page) > limit {
				c.Fatalf("got a page of %d items of %d, %v", len(page), limit, err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		if !slices.EqualFunc(got, want, func(a, b storage.Item) bool { return a.ID == b.ID && a.HTML == b.HTML && a.EventID == b.EventID }) {
			c.Errorf("in pages of %d: got %d items of two events, want %d in order", limit, len(got), len(want))
		}
	}
	if page, err := c.ListItems(c.Context(), storage.ItemQuery{Partition: "en", Events: []string{}}, storage.Item{}, 10); err != nil || len(page) != 0 {
		c.Errorf("got %d items of no events, %v", len(page), err)
	}
}

func feedCoverage(c storeTest) {
	a, b, alone := c.addFeed("https://a.example/"), c.addFeed("https://b.example/"), c.addFeed("https://alone.example/")
	c.addFeed("https://none.example/")
	for n := range 6 {
		item := placed(a, fmt.Sprint(n), "event", []string{"large", "small", "untold"}[n%3])
		item.FirstSeen = day.Add(time.Duration(n) * time.Hour)
		c.put(item)
	}
	c.put(placed(b, "key", "event", "large"))
	c.put(placed(alone, "key", "", ""))
	large, small := aStory("large"), aStory("small")
	large.Sources, small.Sources = 3, 2
	putStories(c, []storage.Story{large, small})
	for _, test := range []struct {
		since   time.Duration
		sources int
		want    map[string]storage.FeedCoverage
	}{
		{0, 3, map[string]storage.FeedCoverage{a: {Items: 6, Covered: 2}, b: {Items: 1, Covered: 1}, alone: {Items: 1}}},
		{0, 2, map[string]storage.FeedCoverage{a: {Items: 6, Covered: 4}, b: {Items: 1, Covered: 1}, alone: {Items: 1}}},
		{0, 4, map[string]storage.FeedCoverage{a: {Items: 6}, b: {Items: 1}, alone: {Items: 1}}},
		{time.Microsecond, 2, map[string]storage.FeedCoverage{a: {Items: 5, Covered: 3}}},
		{4 * time.Hour, 2, map[string]storage.FeedCoverage{a: {Items: 2, Covered: 1}}},
		{6 * time.Hour, 2, nil},
	} {
		got, err := c.FeedCoverage(c.Context(), day.Add(test.since), test.sources)
		if err != nil {
			c.Fatal(err)
		}
		if len(got) != 0 || len(test.want) != 0 {
			c.wantEqual(fmt.Sprintf("the reach since %v of %d sources", test.since, test.sources), got, test.want)
		}
	}
}

func notes(c storeTest) {
	wantNote := func(name, want string) {
		c.Helper()
		got, err := storage.Notes(c.Store).Read(c.Context(), name)
		if err != nil || string(got) != want {
			c.Errorf("the note is %.100q, %v; want %.100q", got, err, want)
		}
	}
	if note, err := storage.Notes(c.Store).Read(c.Context(), "cluster.en"); err != nil || note != nil {
		c.Errorf("where nothing was noted there is %q, %v; want nil", note, err)
	}
	old := fence(c, "cluster.en")
	large := strings.Repeat("\x00\xff{", 1<<19)
	for _, note := range []string{"first", large, "", "last"} {
		if err := storage.Notes(c.Store).Put(c.Context(), old, "cluster.en", []byte(note)); err != nil {
			c.Fatal(err)
		}
		wantNote("cluster.en", note)
	}
	newest := fence(c, "cluster.en")
	c.wantError("note under an old fence", storage.Notes(c.Store).Put(c.Context(), old, "cluster.en", []byte("late")), storage.ErrFenced)
	wantNote("cluster.en", "last")
	for i, fence := range []storage.Fence{newest, {}} {
		if err := storage.Notes(c.Store).Put(c.Context(), fence, "cluster.ru", fmt.Append(nil, i)); err != nil {
			c.Fatal(err)
		}
		wantNote("cluster.ru", fmt.Sprint(i))
	}
	wantNote("cluster.en", "last")
}
