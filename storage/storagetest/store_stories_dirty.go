package storagetest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

// dirtyStories returns all dirty records.
func (c storeTest) dirtyStories() []storage.DirtyStory {
	c.Helper()
	dirty, err := c.DirtyStories(c.Context(), 100_000)
	if err != nil {
		c.Fatalf("read dirty stories: %v", err)
	}
	for i := range dirty[min(len(dirty), 1):] {
		if dirty[i+1].Number <= dirty[i].Number {
			c.Fatalf("the dirty records are not in order: %v", dirty)
		}
	}
	return dirty
}

// clearDirty deletes dirty records, as PutStories does.
func (c storeTest) clearDirty(dirty []storage.DirtyStory) {
	c.Helper()
	if err := c.PutStories(c.Context(), storage.Fence{}, dirty, nil, nil); err != nil {
		c.Fatalf("delete dirty records: %v", err)
	}
}

// wantDirty fails unless exactly these stories are dirty, and deletes their records.
func (c storeTest) wantDirty(by string, want ...string) {
	c.Helper()
	dirty := c.dirtyStories()
	got := []string{}
	for _, mark := range dirty {
		got = append(got, mark.StoryID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		c.Errorf("%s marked %q dirty, want %q", by, got, want)
	}
	c.clearDirty(dirty)
}

// twoItemStory stores a story of two items, and returns them.
func (c storeTest) twoItemStory(id string) []storage.Item {
	c.Helper()
	feedID := c.addFeed("https://" + id + ".example/")
	items := []storage.Item{placed(feedID, "a", "event-a", id), placed(feedID, "b", "event-b", id)}
	c.put(items...)
	return items
}

func (c storeTest) dirtyByItems() {
	feedID, other := c.addFeed("https://example.org/"), c.addFeed("https://other.example/")
	items := []storage.Item{placed(feedID, "a", "e", "one"), placed(feedID, "b", "e", "two"), placed(feedID, "c", "e", "two"), placed(feedID, "d", "e", "three")}
	c.put(items...)
	c.wantDirty("a batch with two items of a story", "two")
	c.put(items...)
	c.wantDirty("an unchanged batch")
	c.put(placed(other, "a", "e", "one"), placed(other, "b", "e", "four"))
	c.wantDirty("a second item of a story", "one")
	for i := range items {
		items[i].Hash, items[i].Title, items[i].StoryID = "hash-2", "Another", "elsewhere" // revisions keep their story
	}
	c.put(items...)
	c.wantDirty("revisions", "one", "two")
	repeated := items[1]
	repeated.Hash = "hash-3"
	fresh := placed(feedID, "e", "e", "two")
	next := fresh
	next.Hash = "hash-2"
	c.put(items[1], repeated, fresh, next)
	c.wantDirty("items listed twice", "two")
}

func (c storeTest) dirtyByLabels() {
	item := c.twoItemStory("story")[0]
	c.wantDirty("the items", "story")
	if _, err := c.Relabel(c.Context(), "job", otherLabels(item)); err != nil {
		c.Fatal(err)
	}
	c.wantDirty("other labels", "story")
	if _, err := c.Relabel(c.Context(), "", otherLabels(item), storage.Labels{ItemID: "nothing"}); err != nil {
		c.Fatal(err)
	}
	c.wantDirty("the same labels")
	c.wantRestored("job", 10, item)
	c.wantDirty("labels taken back", "story")
	c.correctItem(storage.Correction{ItemID: item.ID, Topics: []string{"pets"}, At: day})
	c.wantDirty("a correction", "story")
	for _, marked := range [][]string{{"story"}, nil} {
		if _, err := c.RemoveCorrection(c.Context(), item.ID); err != nil {
			c.Fatal(err)
		}
		c.wantDirty("a correction taken back", marked...)
	}
	c.click(item.ID, 2)
	c.wantDirty("clicks", "story")
}

func (c storeTest) singleItemNeverDirty() {
	feedID := c.addFeed(oldURL)
	item := placed(feedID, "key", "event", "story")
	c.put(item)
	item.Hash = "hash-2"
	c.put(item)
	c.relabelTo("job", []storage.Labels{otherLabels(item)}, item)
	c.wantRestored("job", 10, item)
	c.correctItem(storage.Correction{ItemID: item.ID, At: day})
	if _, err := c.RemoveCorrection(c.Context(), item.ID); err != nil {
		c.Fatal(err)
	}
	c.click(item.ID, 2)
	moves := storage.Rearrangement{Events: []storage.EventMove{{EventID: "event", StoryID: "another"}}}
	c.wantRearranged(moves, item)
	if _, err := c.MoveFeed(c.Context(), feedID, newURL); err != nil {
		c.Fatal(err)
	}
	if _, err := c.RemoveFeed(c.Context(), storage.FeedID(newURL)); err != nil {
		c.Fatal(err)
	}
	c.wantDirty("an item that is alone")
}

func (c storeTest) dirtyByMoves() {
	item := c.twoItemStory("story")[0]
	c.twoItemStory("other")
	c.wantDirty("the items", "story", "other")
	to := func(story string) storage.Rearrangement {
		p := storage.PlacementOf(item)
		p.StoryID = story
		return storage.Rearrangement{Items: []storage.Placement{p}}
	}
	c.wantRearranged(to("other"), item)
	c.wantDirty("a move from story to story", "story", "other")
	c.wantRearranged(to("alone"), item)
	c.wantDirty("a move to a new story", "other")
	c.wantRearranged(to("story"), item)
	c.wantDirty("a move back", "story")
	c.wantRearranged(to("story"))
	c.wantDirty("a move to where it is")
	p := storage.PlacementOf(item)
	p.DuplicateOf = "first"
	c.wantRearranged(storage.Rearrangement{Items: []storage.Placement{p}}, item)
	c.wantDirty("an item that repeats another now", "story")
	both := storage.Rearrangement{Events: []storage.EventMove{{EventID: "event-a", StoryID: "third"}, {EventID: "event-b", StoryID: "third"}}}
	if _, err := c.Rearrange(c.Context(), both); err != nil {
		c.Fatal(err)
	}
	c.wantDirty("all items of two stories", "story", "other", "third")
}

func (c storeTest) dirtyByFeeds() {
	from, to, other := c.addFeed(oldURL), c.addFeed(newURL), c.addFeed("https://other.example/")
	c.put(placed(from, "a", "e", "moved"), placed(from, "b", "e", "moved"), placed(from, "c", "e", "dropped"), placed(from, "d", "e", "alone"),
		placed(from, "first", "e", "first"))
	repeat := placed(other, "repeat", "e", "repeats")
	repeat.DuplicateOf = storage.ItemID(from, "first")
	c.put(repeat, placed(other, "b", "e", "repeats"), placed(other, "c", "e", "others"), placed(other, "d", "e", "others"))
	c.put(placed(to, "c", "e", "dropped"), placed(to, "d", "e", "kept"))
	c.wantDirty("the items", "moved", "dropped", "repeats", "others")
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	c.wantDirty("a feed that moved", "moved", "dropped", "repeats")
	c.put(placed(to, "e", "e", "kept"))
	c.wantDirty("another item", "kept")
	if _, err := c.RemoveFeed(c.Context(), to); err != nil {
		c.Fatal(err)
	}
	c.wantDirty("a removed feed", "moved", "kept", "repeats")
	if _, err := c.RemoveFeed(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	c.wantDirty("another removed feed", "repeats", "others")
}

func (c storeTest) dirtyInOrder() {
	for _, id := range []string{"c", "a", "b", "d"} {
		c.twoItemStory(id)
	}
	all := c.dirtyStories()
	var got []string
	for _, mark := range all {
		got = append(got, mark.StoryID)
	}
	c.wantEqual("the dirty stories", slices.Compact(got), []string{"c", "a", "b", "d"})
	for _, limit := range []int{-1, 0, 1, 3, 100} {
		page, err := c.DirtyStories(c.Context(), limit)
		if err != nil {
			c.Fatal(err)
		}
		if want := all[:max(min(limit, len(all)), 0)]; !slices.Equal(page, want) {
			c.Errorf("%d dirty records are %v, want %v", limit, page, want)
		}
	}
	// Records added meanwhile are kept.
	for range 2 {
		c.click(storage.ItemID(storage.FeedID("https://a.example/"), "b"), 1)
	}
	newer := c.dirtyStories()[len(all):]
	c.clearDirty(slices.Concat(all[:1], all[2:]))
	if got, want := c.dirtyStories(), slices.Concat(all[1:2], newer); len(newer) < 2 || !slices.Equal(got, want) {
		c.Errorf("the remaining dirty records are %v, want %v", got, want)
	}
	c.clearDirty(all)
	if got := c.dirtyStories(); !slices.Equal(got, newer) {
		c.Errorf("the remaining dirty records are %v, want %v", got, newer)
	}
}

func (c storeTest) dirtyNumbersUnique() {
	items := c.twoItemStory("story")
	seen := map[int64]bool{}
	for range 5 {
		dirty := c.dirtyStories()
		for _, mark := range dirty {
			if seen[mark.Number] {
				c.Fatalf("the number %d of a deleted dirty record was reused", mark.Number)
			}
			seen[mark.Number] = true
		}
		c.clearDirty(dirty)
		c.click(items[0].ID, 1)
	}
	if len(seen) < 5 {
		c.Errorf("got %d dirty records, want one per round", len(seen))
	}
}

func (c storeTest) manyDirtyStories() {
	feedID := c.addFeed("https://example.org/")
	var items []storage.Item
	var want []string
	for n := range 130 {
		story := fmt.Sprintf("story-%03d", n)
		want = append(want, story)
		items = append(items, placed(feedID, fmt.Sprint("a", n), "e", story), placed(feedID, fmt.Sprint("b", n), "e", story))
	}
	c.put(items...)
	dirty := c.dirtyStories()
	var stories []storage.Story
	for _, id := range want {
		stories = append(stories, aStory(id))
	}
	if err := c.PutStories(c.Context(), storage.Fence{}, dirty, stories, nil); err != nil {
		c.Fatal(err)
	}
	c.wantDirty("PutStories")
	c.wantStories(storage.StoryQuery{}, want...)
	c.putStories(nil, want[1:]...)
	c.wantStories(storage.StoryQuery{}, want[0])
}

// storiesWhileWriting summarizes stories while items are added, changed and moved, and checks all summaries
// at the end.
func (c storeTest) storiesWhileWriting() {
	const events, rounds = 6, 12
	feedID, fence := c.addFeed("https://example.org/"), c.fence("cluster.en")
	var writing, summarizing sync.WaitGroup
	for w := range 3 {
		writing.Go(func() {
			for round := range rounds {
				batch := storage.Batch{FeedID: feedID, Fence: fence}
				for e := range events {
					item := placed(feedID, fmt.Sprint(w, "-", e, "-", round/2), fmt.Sprint("event-", e), fmt.Sprint("story-", e))
					item.Hash = fmt.Sprint(round)
					batch.Items = append(batch.Items, item)
				}
				if _, err := c.PutItems(c.Context(), batch); err != nil {
					c.Errorf("put: %v", err)
				}
			}
		})
	}
	writing.Go(func() {
		for round := range rounds {
			r := storage.Rearrangement{Fence: fence}
			for e := range events {
				r.Events = append(r.Events, storage.EventMove{EventID: fmt.Sprint("event-", e), StoryID: fmt.Sprint("story-", (e+round)%events, "-", round)})
			}
			if _, err := c.Rearrange(c.Context(), r); err != nil {
				c.Errorf("rearrange: %v", err)
			}
		}
	})
	written := make(chan struct{})
	summarizing.Go(func() {
		for {
			select {
			case <-written:
				return
			default:
				c.summarizeDirty()
			}
		}
	})
	writing.Wait()
	close(written)
	summarizing.Wait()
	for left := 100; c.summarizeDirty(); left-- {
		if left == 0 {
			c.Fatal("summarized 5,000 dirty stories, and more remain")
		}
	}
	count := 0
	for _, s := range c.stories(storage.StoryQuery{}) {
		made, err := storage.ItemsOfStory(c.Context(), c, s.ID, 0)
		if err != nil || made.Count != s.Items || made.Events != s.Events {
			c.Errorf("the summary of %s counts %d items and %d events, and the story %d and %d, %v", s.ID, s.Items, s.Events, made.Count, made.Events, err)
		}
		count += s.Items
	}
	if want := 3 * events * rounds / 2; count != want {
		c.Errorf("the stories have %d items, want each of %d in one", count, want)
	}
	for e := range events {
		made, err := storage.ItemsOfStory(c.Context(), c, fmt.Sprint("story-", (e+rounds-1)%events, "-", rounds-1), 0)
		if want := 3 * rounds / 2; err != nil || made.Count != want {
			c.Errorf("last story of event %d: got %d items, %v; want %d", e, made.Count, err, want)
		}
	}
}

// summarizeDirty summarizes a batch of dirty stories, and reports whether there were any.
func (c storeTest) summarizeDirty() bool {
	dirty, err := c.DirtyStories(c.Context(), 50)
	if err != nil {
		c.Errorf("read dirty stories: %v", err)
		return false
	}
	stories, gone := map[string]storage.Story{}, []string{}
	for _, mark := range dirty {
		made, err := storage.ItemsOfStory(c.Context(), c, mark.StoryID, 10)
		if err != nil || made.Count < 2 {
			gone = append(gone, mark.StoryID)
			delete(stories, mark.StoryID)
			continue
		}
		stories[mark.StoryID] = storage.Story{
			ID: mark.StoryID, Headline: made.Items[0].ID, Items: made.Count, Events: made.Events,
			FirstSeen: made.FirstSeen, LastSeen: made.LastSeen, Summarized: time.Now(),
		}
	}
	var list []storage.Story
	for _, s := range stories {
		if !slices.Contains(gone, s.ID) {
			list = append(list, s)
		}
	}
	if err := c.PutStories(c.Context(), storage.Fence{}, dirty, list, gone); err != nil {
		c.Errorf("put stories: %v", err)
		return false
	}
	return len(dirty) > 0
}
