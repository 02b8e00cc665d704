package role

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/tell"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func kinds(events []subjects.Event) (list []string) {
	for _, e := range events {
		list = append(list, e.Kind)
	}
	return list
}

func TestAStoryIsToldOnceItHasTwoItems(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	n.later(2 * time.Minute)
	heard := n.tell()
	s := n.told(items[0])
	if s.Items != 3 || s.Sources != 3 || s.Lane != "en" || s.Headline == "" || s.Title == "" || s.Rank <= 0 {
		t.Errorf("got %+v, want a story of three publishers", s)
	}
	if !s.FirstSeen.Equal(items[0].FirstSeen) || !s.LastSeen.Equal(items[2].FirstSeen) {
		t.Errorf("got %v to %v, want from the first item to the last", s.FirstSeen, s.LastSeen)
	}
	if got := kinds(heard); !slices.Equal(got, []string{subjects.StoryNew}) || heard[0].StoryID != s.ID || heard[0].Sources != 3 {
		t.Errorf("heard %+v, want that the story is new", heard)
	}
	if heard := n.tell(); len(heard) > 0 {
		t.Errorf("heard %+v though nothing happened", heard)
	}
}

func TestAStoryThatGrowsIsHeardOf(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	n.later(2 * time.Minute)
	n.tell()
	n.publish("three.example", "Tsunami warning lifted after strong Chile earthquake near Iquique")
	n.later(2 * time.Minute)
	if heard := n.tell(); len(heard) > 0 {
		t.Errorf("heard %+v, want nothing of one more item of a known publisher", heard)
	}
	rank := n.told(items[0]).Rank
	n.publish("four.example", "Chile earthquake near Iquique: tsunami warning, strong aftershocks")
	n.later(2 * time.Minute)
	heard := n.tell()
	if got := kinds(heard); !slices.Equal(got, []string{subjects.StoryGrew}) || heard[0].Sources != 4 {
		t.Errorf("heard %+v, want that a fourth publisher tells of it", heard)
	}
	if got := n.told(items[0]).Rank; got <= rank {
		t.Errorf("got rank %f after %f, want it to rise", got, rank)
	}
}

func TestWhatIsMutedOrSpamIsNotTold(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	n.later(2 * time.Minute)
	n.tell()
	var labels []storage.Labels
	for _, i := range items[1:] {
		labels = append(labels, storage.Labels{ItemID: i.ID, Flags: []string{storage.Muted}})
	}
	if _, err := n.store.Relabel(t.Context(), "", labels...); err != nil {
		t.Fatal(err)
	}
	n.tell()
	if s, err := n.store.Story(t.Context(), items[0].StoryID); err == nil {
		t.Errorf("got %+v, want nothing to be told of one item", s)
	}
}

func TestClicksRaiseAStory(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	n.later(2 * time.Minute)
	n.tell()
	before := n.told(items[0])
	if err := n.store.Click(t.Context(), items[1].ID, 15); err != nil {
		t.Fatal(err)
	}
	n.tell()
	if s := n.told(items[0]); s.Clicks != 15 || s.Rank != before.Rank+2 {
		t.Errorf("got %d clicks and rank %f after %f, want half of the logarithm of 16 more", s.Clicks, s.Rank, before.Rank)
	}
}

// A story of many items is read anew more rarely, and nothing of it is forgotten.
func TestALargeStoryIsToldMoreRarely(t *testing.T) {
	n := newNewsroom(t)
	items := func(from, to int) (list []storage.Item) {
		for i := from; i < to; i++ {
			key := fmt.Sprint(i)
			list = append(list, storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Lane: "en", EventID: "e", StoryID: "s", FirstSeen: n.now})
		}
		return list
	}
	n.plant(items(0, 500)...)
	n.tell()
	n.plant(items(500, 501)...)
	n.later(5 * time.Second)
	n.tell()
	if s, err := n.store.Story(t.Context(), "s"); err != nil || s.Items != 500 {
		t.Errorf("got %d items, %v; want it to rest", s.Items, err)
	}
	n.now = n.now.Add(tellRest * 500)
	n.tell()
	if s, err := n.store.Story(t.Context(), "s"); err != nil || s.Items != 501 {
		t.Errorf("got %d items, %v; want it told again", s.Items, err)
	}
	if left, err := n.store.UntoldStories(t.Context(), 10); err != nil || len(left) > 0 {
		t.Errorf("got marks %v, %v; want none left", left, err)
	}
}

// One item a second comes to a story for two minutes. It is told at once, then ever
// more rarely, but what is told is never old; and when it has been quiet, at once again.
func TestAStoryThatKeepsGrowingIsToldMoreRarely(t *testing.T) {
	n := newNewsroom(t)
	made := 0
	grow := func() {
		key := fmt.Sprint(made)
		made++
		n.plant(storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Lane: "en", EventID: "e", StoryID: "s", FirstSeen: n.now})
	}
	told := func() storage.Story {
		n.tell()
		s, err := n.store.Story(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	grow()
	grow()
	start, at := n.now, []time.Time{told().Told}
	for n.now.Sub(start) < 2*time.Minute {
		grow()
		n.now = n.now.Add(time.Second)
		if left, err := n.store.UntoldStories(t.Context(), 10); err != nil || len(left) > 2 {
			t.Fatalf("got marks %v, %v; want one of a story that rests, beside the one just made", left, err)
		}
		if s := told(); !s.Told.Equal(at[len(at)-1]) {
			at = append(at, s.Told)
			if s.Items != made {
				t.Errorf("told of %d items, want all %d", s.Items, made)
			}
		}
		if behind := n.now.Sub(at[len(at)-1]); behind > maxRest {
			t.Errorf("what is told is %v old", behind)
		}
	}
	if len(at) < 5 || len(at) > 12 {
		t.Errorf("a story was told %d times while %d items came: %v", len(at), made, at)
	}
	n.now = n.now.Add(maxRest)
	told()
	n.now = n.now.Add(5 * time.Minute)
	grow()
	if s := told(); s.Items != made {
		t.Errorf("told of %d items of %d, want a quiet story to be told at once", s.Items, made)
	}
	if left, err := n.store.UntoldStories(t.Context(), 10); err != nil || len(left) > 0 {
		t.Errorf("got marks %v, %v; want none left", left, err)
	}
}

// More marks of stories that rest than are read at once hide none of another story.
func TestWhatRestsHidesNothing(t *testing.T) {
	n := newNewsroom(t)
	plant := func(story, key string) {
		n.plant(storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Lane: "en", EventID: "e" + story, StoryID: story, FirstSeen: n.now})
	}
	for i := range 110 { // so that it rests at once
		plant("large", fmt.Sprint("a", i))
	}
	n.tell()
	for i := range tellAtOnce + 10 {
		plant("large", fmt.Sprint("b", i))
	}
	plant("new", "c")
	plant("new", "d")
	n.tell()
	if s, err := n.store.Story(t.Context(), "new"); err != nil || s.Items != 2 {
		t.Errorf("got %d items, %v; want a new story told behind the marks of one that rests", s.Items, err)
	}
	if s, err := n.store.Story(t.Context(), "large"); err != nil || s.Items != 110 {
		t.Errorf("got %d items, %v; want it to rest", s.Items, err)
	}
}

// Who was replaced ends, and tells nothing.
func TestADeposedTellerTellsNothing(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	n.later(2 * time.Minute)
	old := n.teller
	n.takeOver()
	if err := old.tellAll(t.Context()); err == nil {
		t.Error("a deposed teller goes on")
	}
	if _, err := n.store.Story(t.Context(), items[0].StoryID); err == nil {
		t.Error("a deposed teller told of a story")
	}
}

// Items of a topic come once a quarter of an hour for a day, and then twenty within five
// minutes.
func TestABurstIsHeardOfAndListed(t *testing.T) {
	n := newNewsroom(t)
	var calm []storage.Item
	for i := range 100 {
		calm = append(calm, storage.Item{
			ID: fmt.Sprint("calm", i), Key: fmt.Sprint("calm", i), Title: wordsOf(fmt.Sprint(i)), Lane: "en", EventID: fmt.Sprint("e", i), StoryID: fmt.Sprint("s", i),
			FirstSeen: noon.Add(time.Duration(i-100) * 15 * time.Minute), Categories: []string{"business"}, Topics: []string{[]string{"linux", "go", "rust"}[i%3]},
		})
	}
	n.plant(calm...)
	b := n.teller.bursts
	count := func() []subjects.Event {
		t.Helper()
		n.out.messages = nil
		if b.upto.IsZero() {
			b.upto = noon.Add(-burstsBack)
		}
		if err := b.countAll(t.Context(), n.now); err != nil {
			t.Fatal(err)
		}
		return n.heard()
	}
	n.now = noon.Add(5*time.Minute + burstsSettle)
	if heard := count(); len(heard) > 0 {
		t.Errorf("heard %+v of a calm day", heard)
	}
	var wild []storage.Item
	for i := range 20 {
		wild = append(wild, storage.Item{
			ID: fmt.Sprint("wild", i), Key: fmt.Sprint("wild", i), Title: wordsOf(fmt.Sprint("w", i)), Lane: "en", EventID: fmt.Sprint("f", i), StoryID: "outage",
			FirstSeen: noon.Add(6 * time.Minute), Categories: []string{"business"}, Topics: []string{"linux"},
		})
	}
	n.plant(wild...)
	n.now = noon.Add(10*time.Minute + burstsSettle)
	heard := count()
	if !slices.ContainsFunc(heard, func(e subjects.Event) bool {
		return e.Kind == subjects.BurstStart && e.Burst == "topic" && e.Name == "linux"
	}) {
		t.Errorf("heard %+v, want that linux bursts", heard)
	}
	if !slices.ContainsFunc(heard, func(e subjects.Event) bool { return e.Burst == "story" && e.StoryID == "outage" }) {
		t.Errorf("heard %+v, want that the story bursts", heard)
	}
	var listed []tell.Burst
	note, err := n.store.Note(t.Context(), tell.BurstsNote)
	if err != nil || json.Unmarshal(note, &listed) != nil || len(listed) < 2 {
		t.Errorf("got %s, %v, want what bursts", note, err)
	}
	n.tell()
	if s, err := n.store.Story(t.Context(), "outage"); err != nil || !s.Burst {
		t.Errorf("got %+v, %v, want a story in a burst", s, err)
	}
	for range 200 {
		n.now = n.now.Add(5 * time.Minute)
		count()
	}
	if b.on("outage") {
		t.Error("it bursts still, though nothing comes")
	}
}

// plant stores items as they are.
func (n *newsroom) plant(items ...storage.Item) {
	n.t.Helper()
	url := "https://planted.example/feed"
	if _, err := n.store.AddFeeds(n.t.Context(), storage.Feed{ID: storage.FeedID(url), URL: url}); err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.store.PutItems(n.t.Context(), storage.Batch{FeedID: storage.FeedID(url), Items: items}); err != nil {
		n.t.Fatal(err)
	}
}

func TestAStorysItemsAreIndexedAnewEachTimeItDoubles(t *testing.T) {
	n := newNewsroom(t)
	var grew []int
	for i := range 40 {
		key := fmt.Sprint(i)
		n.plant(storage.Item{ID: key, Key: key, Title: "Title", URL: "https://h" + key + ".example/", Lane: "en", EventID: "e", StoryID: "s", FirstSeen: n.now})
		n.now = n.now.Add(time.Minute)
		n.out.messages = nil
		if err := n.teller.tellAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, task := range sent(t, n.out, subjects.Indexes) {
			if len(task.IDs) != i+1 {
				t.Errorf("got %d items to index anew, want all %d", len(task.IDs), i+1)
			}
			grew = append(grew, i+1)
		}
	}
	if want := []int{2, 4, 8, 16, 32}; !slices.Equal(grew, want) {
		t.Errorf("items were indexed anew at %v publishers, want %v", grew, want)
	}
}
