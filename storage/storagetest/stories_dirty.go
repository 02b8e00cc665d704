package storagetest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

// dirtyStories returns all dirty records.
func dirtyStories(c storeTest) []storage.DirtyStory {
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
func clearDirty(c storeTest, dirty []storage.DirtyStory) {
	c.Helper()
	if err := c.PutStories(c.Context(), storage.Fence{}, dirty, nil, nil); err != nil {
		c.Fatalf("delete dirty records: %v", err)
	}
}

// wantDirty fails unless exactly these stories are dirty, and deletes their records.
func wantDirty(c storeTest, by string, want ...string) {
	c.Helper()
	dirty := dirtyStories(c)
	got := []string{}
	for _, mark := range dirty {
		got = append(got, mark.StoryID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		c.Errorf("%s marked %q dirty, want %q", by, got, want)
	}
	clearDirty(c, dirty)
}

// twoItemStory stores a story of two items, and returns them.
func twoItemStory(c storeTest, id string) []storage.Item {
	c.Helper()
	feedID := c.addFeed("https://" + id + ".example/")
	items := []storage.Item{placed(feedID, "a", "event-a", id), placed(feedID, "b", "event-b", id)}
	c.put(items...)
	return items
}

func dirtyByItems(c storeTest) {
	feedID, other := c.addFeed("https://example.org/"), c.addFeed("https://other.example/")
	items := []storage.Item{placed(feedID, "a", "e", "one"), placed(feedID, "b", "e", "two"), placed(feedID, "c", "e", "two"), placed(feedID, "d", "e", "three")}
	c.put(items...)
	wantDirty(c, "a batch with two items of a story", "two")
	c.put(items...)
	wantDirty(c, "an unchanged batch")
	c.put(placed(other, "a", "e", "one"), placed(other, "b", "e", "four"))
	wantDirty(c, "a second item of a story", "one")
	for i := range items {
		items[i].Hash, items[i].Title, items[i].StoryID = "hash-2", "Another", "elsewhere" // revisions keep their story
	}
	c.put(items...)
	wantDirty(c, "revisions", "one", "two")
	repeated := items[1]
	repeated.Hash = "hash-3"
	fresh := placed(feedID, "e", "e", "two")
	next := fresh
	next.Hash = "hash-2"
	c.put(items[1], repeated, fresh, next)
	wantDirty(c, "items listed twice", "two")
}

func dirtyByLabels(c storeTest) {
	item := twoItemStory(c, "story")[0]
	wantDirty(c, "the items", "story")
	if _, err := c.Relabel(c.Context(), "job", otherLabels(item)); err != nil {
		c.Fatal(err)
	}
	wantDirty(c, "other labels", "story")
	if _, err := c.Relabel(c.Context(), "", otherLabels(item), storage.Labels{ItemID: "nothing"}); err != nil {
		c.Fatal(err)
	}
	wantDirty(c, "the same labels")
	wantRestored(c, "job", 10, item)
	wantDirty(c, "labels taken back", "story")
	correctItem(c, storage.Correction{ItemID: item.ID, Topics: []string{"pets"}, At: day})
	wantDirty(c, "a correction", "story")
	for _, marked := range [][]string{{"story"}, nil} {
		if _, err := c.RemoveCorrection(c.Context(), item.ID); err != nil {
			c.Fatal(err)
		}
		wantDirty(c, "a correction taken back", marked...)
	}
	click(c, item.ID, 2)
	wantDirty(c, "clicks", "story")
}

func singleItemNeverDirty(c storeTest) {
	feedID := c.addFeed(oldURL)
	item := placed(feedID, "key", "event", "story")
	c.put(item)
	item.Hash = "hash-2"
	c.put(item)
	relabelTo(c, "job", []storage.Labels{otherLabels(item)}, item)
	wantRestored(c, "job", 10, item)
	correctItem(c, storage.Correction{ItemID: item.ID, At: day})
	if _, err := c.RemoveCorrection(c.Context(), item.ID); err != nil {
		c.Fatal(err)
	}
	click(c, item.ID, 2)
	moves := storage.Rearrangement{Events: []storage.EventMove{{EventID: "event", StoryID: "another"}}}
	wantRearranged(c, moves, item)
	if _, err := c.MoveFeed(c.Context(), feedID, newURL); err != nil {
		c.Fatal(err)
	}
	if _, err := c.RemoveFeed(c.Context(), storage.FeedID(newURL)); err != nil {
		c.Fatal(err)
	}
	wantDirty(c, "an item that is alone")
}

func dirtyByMoves(c storeTest) {
	item := twoItemStory(c, "story")[0]
	twoItemStory(c, "other")
	wantDirty(c, "the items", "story", "other")
	to := func(story string) storage.Rearrangement {
		p := storage.PlacementOf(item)
		p.StoryID = story
		return storage.Rearrangement{Items: []storage.Placement{p}}
	}
	wantRearranged(c, to("other"), item)
	wantDirty(c, "a move from story to story", "story", "other")
	wantRearranged(c, to("alone"), item)
	wantDirty(c, "a move to a new story", "other")
	wantRearranged(c, to("story"), item)
	wantDirty(c, "a move back", "story")
	wantRearranged(c, to("story"))
	wantDirty(c, "a move to where it is")
	p := storage.PlacementOf(item)
	p.DuplicateOf = "first"
	wantRearranged(c, storage.Rearrangement{Items: []storage.Placement{p}}, item)
	wantDirty(c, "an item that repeats another now", "story")
	both := storage.Rearrangement{Events: []storage.EventMove{{EventID: "event-a", StoryID: "third"}, {EventID: "event-b", StoryID: "third"}}}
	if _, err := c.Rearrange(c.Context(), both); err != nil {
		c.Fatal(err)
	}
	wantDirty(c, "all items of two stories", "story", "other", "third")
}

func dirtyByFeeds(c storeTest) {
	from, to, other := c.addFeed(oldURL), c.addFeed(newURL), c.addFeed("https://other.example/")
	c.put(placed(from, "a", "e", "moved"), placed(from, "b", "e", "moved"), placed(from, "c", "e", "dropped"), placed(from, "d", "e", "alone"),
		placed(from, "first", "e", "first"))
	repeat := placed(other, "repeat", "e", "repeats")
	repeat.DuplicateOf = storage.ItemID(from, "first")
	c.put(repeat, placed(other, "b", "e", "repeats"), placed(other, "c", "e", "others"), placed(other, "d", "e", "others"))
	c.put(placed(to, "c", "e", "dropped"), placed(to, "d", "e", "kept"))
	wantDirty(c, "the items", "moved", "dropped", "repeats", "others")
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	wantDirty(c, "a feed that moved", "moved", "dropped", "repeats")
	c.put(placed(to, "e", "e", "kept"))
	wantDirty(c, "another item", "kept")
	if _, err := c.RemoveFeed(c.Context(), to); err != nil {
		c.Fatal(err)
	}
	wantDirty(c, "a removed feed", "moved", "kept", "repeats")
	if _, err := c.RemoveFeed(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	wantDirty(c, "another removed feed", "repeats", "others")
}

func dirtyInOrder(c storeTest) {
	for _, id := range []string{"c", "a", "b", "d"} {
		twoItemStory(c, id)
	}
	all := dirtyStories(c)
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
		click(c, storage.ItemID(storage.FeedID("https://a.example/"), "b"), 1)
	}
	newer := dirtyStories(c)[len(all):]
	clearDirty(c, slices.Concat(all[:1], all[2:]))
	if got, want := dirtyStories(c), slices.Concat(all[1:2], newer); len(newer) < 2 || !slices.Equal(got, want) {
		c.Errorf("the remaining dirty records are %v, want %v", got, want)
	}
	clearDirty(c, all)
	if got := dirtyStories(c); !slices.Equal(got, newer) {
		c.Errorf("the remaining dirty records are %v, want %v", got, newer)
	}
}

func dirtyNumbersUnique(c storeTest) {
	items := twoItemStory(c, "story")
	seen := map[int64]bool{}
	for range 5 {
		dirty := dirtyStories(c)
		for _, mark := range dirty {
			if seen[mark.Number] {
				c.Fatalf("the number %d of a deleted dirty record was reused", mark.Number)
			}
			seen[mark.Number] = true
		}
		clearDirty(c, dirty)
		click(c, items[0].ID, 1)
	}
	if len(seen) < 5 {
		c.Errorf("got %d dirty records, want one per round", len(seen))
	}
}

func manyDirtyStories(c storeTest) {
	feedID := c.addFeed("https://example.org/")
	var items []storage.Item
	var want []string
	for n := range 130 {
		story := fmt.Sprintf("story-%03d", n)
		want = append(want, story)
		items = append(items, placed(feedID, fmt.Sprint("a", n), "e", story), placed(feedID, fmt.Sprint("b", n), "e", story))
	}
	c.put(items...)
	dirty := dirtyStories(c)
	var stories []storage.Story
	for _, id := range want {
		stories = append(stories, aStory(id))
	}
	if err := c.PutStories(c.Context(), storage.Fence{}, dirty, stories, nil); err != nil {
		c.Fatal(err)
	}
	wantDirty(c, "PutStories")
	wantStories(c, storage.StoryQuery{}, want...)
	putStories(c, nil, want[1:]...)
	wantStories(c, storage.StoryQuery{}, want[0])
}

// storiesWhileWriting summarizes stories while items are added, changed and moved, and checks all summaries
// at the end.
func storiesWhileWriting(c storeTest) {
	const events, rounds = 6, 12
	feedID, fence := c.addFeed("https://example.org/"), fence(c, "cluster.en")
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
				summarizeDirty(c)
			}
		}
	})
	writing.Wait()
	close(written)
	summarizing.Wait()
	for left := 100; summarizeDirty(c); left-- {
		if left == 0 {
			c.Fatal("summarized 5,000 dirty stories, and more remain")
		}
	}
	count := 0
	for _, s := range listStories(c, storage.StoryQuery{}) {
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
func summarizeDirty(c storeTest) bool {
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
