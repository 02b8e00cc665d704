package storagetest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
)

// marks returns all marks of stories.
func (c storeTest) marks() []storage.Untold {
	c.Helper()
	marks, err := c.UntoldStories(c.Context(), 100_000)
	if err != nil {
		c.Fatalf("read marks: %v", err)
	}
	for i := range marks[min(len(marks), 1):] {
		if marks[i+1].Mark <= marks[i].Mark {
			c.Fatalf("the marks are not in order: %v", marks)
		}
	}
	return marks
}

// forget forgets marks, as if their stories were told.
func (c storeTest) forget(marks []storage.Untold) {
	c.Helper()
	if err := c.TellStories(c.Context(), storage.Fence{}, marks, nil, nil); err != nil {
		c.Fatalf("forget marks: %v", err)
	}
}

// wantMarked fails unless exactly these stories are marked, and forgets their
// marks.
func (c storeTest) wantMarked(by string, want ...string) {
	c.Helper()
	marks := c.marks()
	got := []string{}
	for _, mark := range marks {
		got = append(got, mark.StoryID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		c.Errorf("%s marked %q, want %q", by, got, want)
	}
	c.forget(marks)
}

// markedStory stores two items of a story, and returns them.
func (c storeTest) markedStory(id string) []storage.Item {
	c.Helper()
	feedID := c.addFeed("https://" + id + ".example/")
	items := []storage.Item{placed(feedID, "a", "event-a", id), placed(feedID, "b", "event-b", id)}
	c.put(items...)
	return items
}

func (c storeTest) markedByItems() {
	feedID, other := c.addFeed("https://example.org/"), c.addFeed("https://other.example/")
	items := []storage.Item{placed(feedID, "a", "e", "one"), placed(feedID, "b", "e", "two"), placed(feedID, "c", "e", "two"), placed(feedID, "d", "e", "three")}
	c.put(items...)
	c.wantMarked("a batch with two items of a story", "two")
	c.put(items...)
	c.wantMarked("an unchanged batch")
	c.put(placed(other, "a", "e", "one"), placed(other, "b", "e", "four"))
	c.wantMarked("a second item of a story", "one")
	for i := range items {
		items[i].Hash, items[i].Title, items[i].StoryID = "hash-2", "Another", "elsewhere" // where a revision is not put
	}
	c.put(items...)
	c.wantMarked("revisions", "one", "two")
	again := items[1]
	again.Hash = "hash-3"
	fresh := placed(feedID, "e", "e", "two")
	next := fresh
	next.Hash = "hash-2"
	c.put(items[1], again, fresh, next)
	c.wantMarked("items listed twice", "two")
}

func (c storeTest) markedByLabels() {
	item := c.markedStory("story")[0]
	c.wantMarked("the items", "story")
	if _, err := c.Relabel(c.Context(), "job", otherLabels(item)); err != nil {
		c.Fatal(err)
	}
	c.wantMarked("other labels", "story")
	if _, err := c.Relabel(c.Context(), "", otherLabels(item), storage.Labels{ItemID: "nothing"}); err != nil {
		c.Fatal(err)
	}
	c.wantMarked("the same labels")
	c.wantRestored("job", 10, item)
	c.wantMarked("labels taken back", "story")
	c.correctItem(storage.Correction{ItemID: item.ID, Topics: []string{"pets"}, At: day})
	c.wantMarked("a correction", "story")
	for _, marked := range [][]string{{"story"}, nil} {
		if _, err := c.Uncorrect(c.Context(), item.ID); err != nil {
			c.Fatal(err)
		}
		c.wantMarked("a correction taken back", marked...)
	}
	c.click(item.ID, 2)
	c.wantMarked("clicks", "story")
}

func (c storeTest) aloneMarksNothing() {
	feedID := c.addFeed(oldURL)
	item := placed(feedID, "key", "event", "story")
	c.put(item)
	item.Hash = "hash-2"
	c.put(item)
	c.relabelTo("job", []storage.Labels{otherLabels(item)}, item)
	c.wantRestored("job", 10, item)
	c.correctItem(storage.Correction{ItemID: item.ID, At: day})
	if _, err := c.Uncorrect(c.Context(), item.ID); err != nil {
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
	c.wantMarked("an item that is alone")
}

func (c storeTest) markedByMoves() {
	item := c.markedStory("story")[0]
	c.markedStory("other")
	c.wantMarked("the items", "story", "other")
	to := func(story string) storage.Rearrangement {
		p := storage.PlacementOf(item)
		p.StoryID = story
		return storage.Rearrangement{Items: []storage.Placement{p}}
	}
	c.wantRearranged(to("other"), item)
	c.wantMarked("a move from story to story", "story", "other")
	c.wantRearranged(to("alone"), item)
	c.wantMarked("a move to a new story", "other")
	c.wantRearranged(to("story"), item)
	c.wantMarked("a move back", "story")
	c.wantRearranged(to("story"))
	c.wantMarked("a move to where it is")
	p := storage.PlacementOf(item)
	p.DuplicateOf = "first"
	c.wantRearranged(storage.Rearrangement{Items: []storage.Placement{p}}, item)
	c.wantMarked("an item that repeats another now", "story")
	both := storage.Rearrangement{Events: []storage.EventMove{{EventID: "event-a", StoryID: "third"}, {EventID: "event-b", StoryID: "third"}}}
	if _, err := c.Rearrange(c.Context(), both); err != nil {
		c.Fatal(err)
	}
	c.wantMarked("all items of two stories", "story", "other", "third")
}

func (c storeTest) markedByFeeds() {
	from, to, other := c.addFeed(oldURL), c.addFeed(newURL), c.addFeed("https://other.example/")
	c.put(placed(from, "a", "e", "moved"), placed(from, "b", "e", "moved"), placed(from, "c", "e", "dropped"), placed(from, "d", "e", "alone"),
		placed(from, "first", "e", "first"))
	repeat := placed(other, "repeat", "e", "repeats")
	repeat.DuplicateOf = storage.ItemID(from, "first")
	c.put(repeat, placed(other, "b", "e", "repeats"), placed(other, "c", "e", "others"), placed(other, "d", "e", "others"))
	c.put(placed(to, "c", "e", "dropped"), placed(to, "d", "e", "kept"))
	c.wantMarked("the items", "moved", "dropped", "repeats", "others")
	if _, err := c.MoveFeed(c.Context(), from, newURL); err != nil {
		c.Fatal(err)
	}
	c.wantMarked("a feed that moved", "moved", "dropped", "repeats")
	c.put(placed(to, "e", "e", "kept"))
	c.wantMarked("another item", "kept")
	if _, err := c.RemoveFeed(c.Context(), to); err != nil {
		c.Fatal(err)
	}
	c.wantMarked("a removed feed", "moved", "kept", "repeats")
	if _, err := c.RemoveFeed(c.Context(), other); err != nil {
		c.Fatal(err)
	}
	c.wantMarked("another removed feed", "repeats", "others")
}

func (c storeTest) marksInOrder() {
	for _, id := range []string{"c", "a", "b", "d"} {
		c.markedStory(id)
	}
	all := c.marks()
	var got []string
	for _, mark := range all {
		got = append(got, mark.StoryID)
	}
	c.wantEqual("the list of marked stories", slices.Compact(got), []string{"c", "a", "b", "d"})
	for _, limit := range []int{-1, 0, 1, 3, 100} {
		page, err := c.UntoldStories(c.Context(), limit)
		if err != nil {
			c.Fatal(err)
		}
		if want := all[:max(min(limit, len(all)), 0)]; !slices.Equal(page, want) {
			c.Errorf("%d marks are %v, want %v", limit, page, want)
		}
	}
	// What is marked meanwhile stays so, as often as that is.
	for range 2 {
		c.click(storage.ItemID(storage.FeedID("https://a.example/"), "b"), 1)
	}
	newer := c.marks()[len(all):]
	c.forget(slices.Concat(all[:1], all[2:]))
	if got, want := c.marks(), slices.Concat(all[1:2], newer); len(newer) < 2 || !slices.Equal(got, want) {
		c.Errorf("the marks left are %v, want %v", got, want)
	}
	c.forget(all)
	if got := c.marks(); !slices.Equal(got, newer) {
		c.Errorf("the marks left are %v, want %v", got, newer)
	}
}

func (c storeTest) marksNamedOnce() {
	items := c.markedStory("story")
	seen := map[int64]bool{}
	for range 5 {
		marks := c.marks()
		for _, mark := range marks {
			if seen[mark.Mark] {
				c.Fatalf("mark %d has been forgotten, and is there again", mark.Mark)
			}
			seen[mark.Mark] = true
		}
		c.forget(marks)
		c.click(items[0].ID, 1)
	}
	if len(seen) < 5 {
		c.Errorf("there were %d marks, want one each time", len(seen))
	}
}

func (c storeTest) manyMarks() {
	feedID := c.addFeed("https://example.org/")
	var items []storage.Item
	var want []string
	for n := range 130 {
		story := fmt.Sprintf("story-%03d", n)
		want = append(want, story)
		items = append(items, placed(feedID, fmt.Sprint("a", n), "e", story), placed(feedID, fmt.Sprint("b", n), "e", story))
	}
	c.put(items...)
	marks := c.marks()
	var told []storage.Story
	for _, id := range want {
		told = append(told, aStory(id))
	}
	if err := c.TellStories(c.Context(), storage.Fence{}, marks, told, nil); err != nil {
		c.Fatal(err)
	}
	c.wantMarked("what is told")
	c.wantStories(storage.StoryQuery{}, want...)
	c.tellStories(nil, want[1:]...)
	c.wantStories(storage.StoryQuery{}, want[0])
}

// storiesWhileWriting has items come, change and move while stories are told, and
// wants all told rightly in the end.
func (c storeTest) storiesWhileWriting() {
	const events, rounds = 6, 12
	feedID, fence := c.addFeed("https://example.org/"), c.fence("cluster.en")
	var writing, telling sync.WaitGroup
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
	telling.Go(func() {
		for {
			select {
			case <-written:
				return
			default:
				c.tellMarked()
			}
		}
	})
	writing.Wait()
	close(written)
	telling.Wait()
	for left := 100; c.tellMarked(); left-- {
		if left == 0 {
			c.Fatal("told 5,000 marks, and there are still some")
		}
	}
	count := 0
	for _, s := range c.stories(storage.StoryQuery{}) {
		made, err := c.ReadStory(c.Context(), s.ID, 0)
		if err != nil || made.Count != s.Items || made.Events != s.Events {
			c.Errorf("%s is told of %d items and %d events, and has %d and %d, %v", s.ID, s.Items, s.Events, made.Count, made.Events, err)
		}
		count += s.Items
	}
	if want := 3 * events * rounds / 2; count != want {
		c.Errorf("the stories have %d items, want each of %d in one", count, want)
	}
	for e := range events {
		made, err := c.ReadStory(c.Context(), fmt.Sprint("story-", (e+rounds-1)%events, "-", rounds-1), 0)
		if want := 3 * rounds / 2; err != nil || made.Count != want {
			c.Errorf("the story that event %d moved to at last has %d items, %v; want %d", e, made.Count, err, want)
		}
	}
}

// tellMarked tells marked stories anew, and reports whether there were any.
func (c storeTest) tellMarked() bool {
	marks, err := c.UntoldStories(c.Context(), 50)
	if err != nil {
		c.Errorf("read marks: %v", err)
		return false
	}
	told, gone := map[string]storage.Story{}, []string{}
	for _, mark := range marks {
		made, err := c.ReadStory(c.Context(), mark.StoryID, 10)
		if err != nil || made.Count < 2 {
			gone = append(gone, mark.StoryID)
			delete(told, mark.StoryID)
			continue
		}
		told[mark.StoryID] = storage.Story{
			ID: mark.StoryID, Headline: made.Items[0].ID, Items: made.Count, Events: made.Events,
			FirstSeen: made.First, LastSeen: made.Last, Told: time.Now(),
		}
	}
	var list []storage.Story
	for _, s := range told {
		if !slices.Contains(gone, s.ID) {
			list = append(list, s)
		}
	}
	if err := c.TellStories(c.Context(), storage.Fence{}, marks, list, gone); err != nil {
		c.Errorf("tell: %v", err)
		return false
	}
	return len(marks) > 0
}
