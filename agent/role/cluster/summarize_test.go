package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func kinds(events []subjects.Event) (list []string) {
	for _, e := range events {
		list = append(list, e.Kind)
	}
	return list
}

func TestSummarizer_StoryNeedsTwoItems(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	n.advance(2 * time.Minute)
	events := n.summarize()
	s := n.story(items[0])
	if s.Items != 3 || s.Sources != 3 || s.Partition != "en" || s.Headline == "" || s.Title == "" || s.Rank <= 0 {
		t.Errorf("got %+v, want a story of three publishers", s)
	}
	if !s.FirstSeen.Equal(items[0].FirstSeen) || !s.LastSeen.Equal(items[2].FirstSeen) {
		t.Errorf("got %v to %v, want from the first item to the last", s.FirstSeen, s.LastSeen)
	}
	if got := kinds(events); !slices.Equal(got, []string{subjects.StoryNew}) || events[0].StoryID != s.ID || events[0].Sources != 3 {
		t.Errorf("got events %+v, want the new story", events)
	}
	if events := n.summarize(); len(events) > 0 {
		t.Errorf("got events %+v without changes, want none", events)
	}
}

func TestSummarizer_PublishesGrowth(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	n.advance(2 * time.Minute)
	n.summarize()
	n.publish("three.example", "Tsunami warning lifted after strong Chile earthquake near Iquique")
	n.advance(2 * time.Minute)
	if events := n.summarize(); len(events) > 0 {
		t.Errorf("got events %+v for another item of the same publisher, want none", events)
	}
	rank := n.story(items[0]).Rank
	n.publish("four.example", "Chile earthquake near Iquique: tsunami warning, strong aftershocks")
	n.advance(2 * time.Minute)
	events := n.summarize()
	if got := kinds(events); !slices.Equal(got, []string{subjects.StoryGrew}) || events[0].Sources != 4 {
		t.Errorf("got events %+v, want the growth to four publishers", events)
	}
	if got := n.story(items[0]).Rank; got <= rank {
		t.Errorf("got rank %f after %f, want a higher rank", got, rank)
	}
}

func TestSummarizer_IgnoresMutedAndSpam(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	n.advance(2 * time.Minute)
	n.summarize()
	var labels []storage.Labels
	for _, i := range items[1:] {
		labels = append(labels, storage.Labels{ItemID: i.ID, Flags: []string{storage.FlagMuted}})
	}
	if _, err := n.store.Relabel(t.Context(), "", labels...); err != nil {
		t.Fatal(err)
	}
	n.summarize()
	if s, err := storage.StoryByID(t.Context(), n.store, items[0].StoryID); err == nil {
		t.Errorf("got %+v, want no summary of one item", s)
	}
}

func TestSummarizer_ClicksRaiseTheRank(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	n.advance(2 * time.Minute)
	n.summarize()
	before := n.story(items[0])
	if err := n.store.AddClicks(t.Context(), items[1].ID, 15); err != nil {
		t.Fatal(err)
	}
	n.summarize()
	if s := n.story(items[0]); s.Clicks != 15 || s.Rank != before.Rank+2 {
		t.Errorf("got %d clicks and rank %f after %f, want a rise by log2(16)/2", s.Clicks, s.Rank, before.Rank)
	}
}

// A story of many items is summarized less often, without losing changes.
func TestSummarizer_LargeStoryIsDelayed(t *testing.T) {
	n := newPipelineFixture(t)
	items := func(from, to int) (list []storage.Item) {
		for i := from; i < to; i++ {
			key := fmt.Sprint(i)
			list = append(list, storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Partition: "en", EventID: "e", StoryID: "s", FirstSeen: n.now})
		}
		return list
	}
	n.plant(items(0, 500)...)
	n.summarize()
	n.plant(items(500, 501)...)
	n.advance(5 * time.Second)
	n.summarize()
	if s, err := storage.StoryByID(t.Context(), n.store, "s"); err != nil || s.Items != 500 {
		t.Errorf("got %d items, %v; want the summary delayed", s.Items, err)
	}
	n.now = n.now.Add(delayPerItem * 500)
	n.summarize()
	if s, err := storage.StoryByID(t.Context(), n.store, "s"); err != nil || s.Items != 501 {
		t.Errorf("got %d items, %v; want a new summary", s.Items, err)
	}
	if left, err := n.store.DirtyStories(t.Context(), 10); err != nil || len(left) > 0 {
		t.Errorf("got dirty stories %v, %v; want none", left, err)
	}
}

// A story grows by one item a second for two minutes. Its first summary is immediate, further ones are
// delayed increasingly but never older than the maximum; after a pause the next summary is immediate again.
func TestSummarizer_GrowingStoryIsDelayed(t *testing.T) {
	n := newPipelineFixture(t)
	made := 0
	grow := func() {
		key := fmt.Sprint(made)
		made++
		n.plant(storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Partition: "en", EventID: "e", StoryID: "s", FirstSeen: n.now})
	}
	stored := func() storage.Story {
		n.summarize()
		s, err := storage.StoryByID(t.Context(), n.store, "s")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	grow()
	grow()
	start, at := n.now, []time.Time{stored().Summarized}
	for n.now.Sub(start) < 2*time.Minute {
		grow()
		n.now = n.now.Add(time.Second)
		if left, err := n.store.DirtyStories(t.Context(), 10); err != nil || len(left) > 2 {
			t.Fatalf("got dirty stories %v, %v; want a delayed one besides the new one", left, err)
		}
		if s := stored(); !s.Summarized.Equal(at[len(at)-1]) {
			at = append(at, s.Summarized)
			if s.Items != made {
				t.Errorf("got a summary of %d items, want all %d", s.Items, made)
			}
		}
		if behind := n.now.Sub(at[len(at)-1]); behind > maxDelay {
			t.Errorf("got a summary %v old", behind)
		}
	}
	if len(at) < 5 || len(at) > 12 {
		t.Errorf("got %d summaries for %d items: %v", len(at), made, at)
	}
	n.now = n.now.Add(maxDelay)
	stored()
	n.now = n.now.Add(5 * time.Minute)
	grow()
	if s := stored(); s.Items != made {
		t.Errorf("got a summary of %d of %d items, want an immediate summary after the pause", s.Items, made)
	}
	if left, err := n.store.DirtyStories(t.Context(), 10); err != nil || len(left) > 0 {
		t.Errorf("got dirty stories %v, %v; want none", left, err)
	}
}

// A delay that began while the clock was an hour ahead ends when the clock is right again.
func TestSummarizer_DelayOfAClockThatWasAhead(t *testing.T) {
	n := newPipelineFixture(t)
	made := 0
	grow := func(items int) {
		for range items {
			key := fmt.Sprint(made)
			made++
			n.plant(storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Partition: "en", EventID: "e", StoryID: "s", FirstSeen: n.now})
		}
	}
	grow(200) // large enough to be delayed immediately
	n.now = n.now.Add(time.Hour)
	n.summarize()
	n.now = n.now.Add(-time.Hour + 10*time.Second)
	grow(1)
	n.summarize()
	if s, err := storage.StoryByID(t.Context(), n.store, "s"); err != nil || s.Items != made {
		t.Errorf("got a summary of %d items (%v) after the clock went back, want %d", s.Items, err, made)
	}
	if !n.summarizer.weightsUpdated.Equal(n.now) {
		t.Errorf("got weights of %v at %v, want them recomputed", n.summarizer.weightsUpdated, n.now)
	}
}

// More delayed stories than a batch do not hide other dirty stories.
func TestSummarizer_DelayedStoriesHideNoOthers(t *testing.T) {
	n := newPipelineFixture(t)
	plant := func(story, key string) {
		n.plant(storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Partition: "en", EventID: "e" + story, StoryID: story, FirstSeen: n.now})
	}
	const large = int(summarizeEvery/delayPerItem) + 10 // items of a story that is delayed immediately
	for i := range large {
		plant("large", fmt.Sprint("a", i))
	}
	n.summarize()
	for i := range dirtyBatch + 10 {
		plant("large", fmt.Sprint("b", i))
	}
	plant("new", "c")
	plant("new", "d")
	n.summarize()
	if s, err := storage.StoryByID(t.Context(), n.store, "new"); err != nil || s.Items != 2 {
		t.Errorf("got %d items, %v; want the new story summarized despite delayed ones", s.Items, err)
	}
	if s, err := storage.StoryByID(t.Context(), n.store, "large"); err != nil || s.Items != large {
		t.Errorf("got %d items, %v; want the summary delayed", s.Items, err)
	}
}

// A replaced summarizer stops without writing.
func TestSummarizer_FencedWritesNothing(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	n.advance(2 * time.Minute)
	old := n.summarizer
	n.takeOver()
	if _, err := old.summarizeAll(t.Context()); err == nil {
		t.Error("got a fenced summarizer still running")
	}
	if _, err := storage.StoryByID(t.Context(), n.store, items[0].StoryID); err == nil {
		t.Error("got a summary from a fenced summarizer")
	}
}

// Items of a topic arrive every quarter of an hour for a day, then twenty within five minutes.
func TestBursts_ArePublishedAndListed(t *testing.T) {
	n := newPipelineFixture(t)
	var calm []storage.Item
	for i := range 100 {
		calm = append(calm, storage.Item{
			ID: fmt.Sprint("calm", i), Key: fmt.Sprint("calm", i), Title: worktest.WordsOf(fmt.Sprint(i)), Partition: "en", EventID: fmt.Sprint("e", i), StoryID: fmt.Sprint("s", i),
			FirstSeen: worktest.Noon.Add(time.Duration(i-100) * 15 * time.Minute), Categories: []string{"business"}, Topics: []string{[]string{"linux", "go", "rust"}[i%3]},
		})
	}
	n.plant(calm...)
	// View 1 has a third of the items, view 2 all of them, which is no burst at any rate.
	enter := func(items []storage.Item) {
		t.Helper()
		var members []storage.Member
		for _, item := range items {
			if slices.Contains(item.Topics, "linux") {
				members = append(members, storage.Member{View: 1, ItemID: item.ID, Entered: item.FirstSeen, Published: item.FirstSeen})
			}
			members = append(members, storage.Member{View: 2, ItemID: item.ID, Entered: item.FirstSeen, Published: item.FirstSeen})
		}
		if err := n.store.ChangeMembers(t.Context(), storage.Fence{}, members, nil); err != nil {
			t.Fatal(err)
		}
	}
	enter(calm)
	b := n.summarizer.bursts
	count := func() []subjects.Event {
		t.Helper()
		n.out.Messages = nil
		if b.countedUntil.IsZero() {
			b.countedUntil = worktest.Noon.Add(-burstHistory)
		}
		if err := b.countAll(t.Context(), n.now); err != nil {
			t.Fatal(err)
		}
		return n.events()
	}
	n.now = worktest.Noon.Add(5*time.Minute + burstDelay)
	if events := count(); len(events) > 0 {
		t.Errorf("got events %+v without a burst, want none", events)
	}
	var wild []storage.Item
	for i := range 20 {
		wild = append(wild, storage.Item{
			ID: fmt.Sprint("wild", i), Key: fmt.Sprint("wild", i), Title: worktest.WordsOf(fmt.Sprint("w", i)), Partition: "en", EventID: fmt.Sprint("f", i), StoryID: "outage",
			FirstSeen: worktest.Noon.Add(6 * time.Minute), Categories: []string{"business"}, Topics: []string{"linux"},
		})
	}
	n.plant(wild...)
	enter(wild)
	n.now = worktest.Noon.Add(10*time.Minute + burstDelay)
	events := count()
	if !slices.ContainsFunc(events, func(e subjects.Event) bool {
		return e.Kind == subjects.BurstStart && e.Burst == "topic" && e.Name == "linux"
	}) {
		t.Errorf("got events %+v, want the burst of topic linux", events)
	}
	if !slices.ContainsFunc(events, func(e subjects.Event) bool { return e.Burst == "story" && e.StoryID == "outage" }) {
		t.Errorf("got events %+v, want the burst of the story", events)
	}
	var listed []placement.Burst
	note, err := storage.Notes(n.store).Read(t.Context(), placement.BurstsNote)
	if err != nil || json.Unmarshal(note, &listed) != nil || len(listed) < 2 {
		t.Errorf("got %s, %v, want the current bursts", note, err)
	}
	ofViews := slices.DeleteFunc(listed, func(b placement.Burst) bool { return b.Of != placement.OfView })
	if len(ofViews) != 1 || ofViews[0].Name != "1" || ofViews[0].Items != 20 {
		t.Errorf("got %+v, want a burst of view 1", ofViews)
	}
	if slices.ContainsFunc(events, func(e subjects.Event) bool { return e.Burst == placement.OfView }) {
		t.Errorf("got events %+v, want none of views, which may be private", events)
	}
	n.summarize()
	if s, err := storage.StoryByID(t.Context(), n.store, "outage"); err != nil || !s.Burst {
		t.Errorf("got %+v, %v, want a story in a burst", s, err)
	}
	for range 200 {
		n.now = n.now.Add(5 * time.Minute)
		count()
	}
	if b.isBursting("outage") {
		t.Error("got the burst still active without new items")
	}
}

// The first items of a node are no burst, nor are those of many feeds added later, nor anything on the first day.
func TestBursts_FirstImportIsNotABurst(t *testing.T) {
	n := newPipelineFixture(t)
	b := n.summarizer.bursts
	b.countedUntil = worktest.Noon.Add(-burstHistory)
	items := func(feed string, count int, seen, published time.Time) {
		url := "https://" + feed + ".example/feed"
		if _, err := n.store.AddFeeds(t.Context(), storage.Feed{ID: storage.FeedID(url), URL: url, Added: seen.Add(-time.Minute)}); err != nil {
			t.Fatal(err)
		}
		var list []storage.Item
		for i := range count {
			key := fmt.Sprint(feed, i, seen.Unix())
			list = append(list, storage.Item{ID: key, Key: key, Partition: "en", EventID: key, StoryID: feed, FirstSeen: seen, Published: published, Topics: []string{feed}})
		}
		if _, err := n.store.PutItems(t.Context(), storage.Batch{FeedID: storage.FeedID(url), Items: list}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(at time.Time) []placement.Burst {
		n.now = at.Add(5*time.Minute + burstDelay)
		if err := b.countAll(t.Context(), n.now); err != nil {
			t.Fatal(err)
		}
		return b.current()
	}
	yesterday := worktest.Noon.Add(-30 * time.Hour)
	for i := range 10 {
		items(fmt.Sprint("calm", i), 1, yesterday, yesterday)
	}
	items("linux", 100, yesterday, yesterday.AddDate(0, 0, -1)) // the first import
	items("news", 50, yesterday.Add(10*time.Minute), yesterday.Add(10*time.Minute))
	if got := count(yesterday.Add(time.Hour)); len(got) > 0 {
		t.Errorf("got %v on the first day, want no burst", got)
	}
	for i := range 30 {
		at := yesterday.Add(time.Duration(i) * time.Hour)
		items("calm1", 2, at, at)
		items("calm2", 2, at, at)
	}
	items("import", 50, worktest.Noon, worktest.Noon.Add(-time.Hour)) // many feeds added later
	items("calm1", 1, worktest.Noon, worktest.Noon)
	if got := count(worktest.Noon); len(got) > 0 {
		t.Errorf("got %v from items older than their feeds, want no burst", got)
	}
	items("outage", 50, worktest.Noon.Add(5*time.Minute), worktest.Noon.Add(5*time.Minute))
	if got := count(worktest.Noon.Add(5 * time.Minute)); len(got) == 0 {
		t.Error("got no burst from fifty new items")
	}
}

// plant stores items unchanged.
func (n *pipelineFixture) plant(items ...storage.Item) {
	n.t.Helper()
	url := "https://planted.example/feed"
	if _, err := n.store.AddFeeds(n.t.Context(), storage.Feed{ID: storage.FeedID(url), URL: url}); err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.store.PutItems(n.t.Context(), storage.Batch{FeedID: storage.FeedID(url), Items: items}); err != nil {
		n.t.Fatal(err)
	}
}

func TestSummarizer_ReindexesWhenCoverageDoubles(t *testing.T) {
	n := newPipelineFixture(t)
	var grew []int
	for i := range 40 {
		key := fmt.Sprint(i)
		n.plant(storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Partition: "en", EventID: "e", StoryID: "s", FirstSeen: n.now})
		n.now = n.now.Add(time.Minute)
		n.out.Messages = nil
		if _, err := n.summarizer.summarizeAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, task := range worktest.Sent(t, n.out, subjects.IndexQueue) {
			if len(task.IDs) != i+1 {
				t.Errorf("got %d items to index again, want all %d", len(task.IDs), i+1)
			}
			grew = append(grew, i+1)
		}
	}
	if want := []int{2, 4, 8, 16, 32}; !slices.Equal(grew, want) {
		t.Errorf("got items indexed again at %v publishers, want %v", grew, want)
	}
}
