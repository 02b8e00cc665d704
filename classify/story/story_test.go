package story

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"feedmesh/classify/text"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// itemOf returns an item of a host, published the given minutes after noon.
func itemOf(id, host, title string, minutes int) Item {
	return Item{ID: id, Title: title, Language: "en", Host: host, Seen: noon.Add(time.Duration(minutes) * time.Minute)}
}

// quake and rocket are reports of two events by several publishers.
var quake = []Item{
	itemOf("q1", "a", "Magnitude 7.3 earthquake strikes off the coast of Aceh", 0),
	itemOf("q2", "b", "Strong earthquake strikes off Aceh coast, tsunami warning issued", 5),
	itemOf("q3", "c", "Tsunami warning after earthquake strikes off Aceh", 9),
	itemOf("q4", "d", "Aceh earthquake: tsunami warning lifted off the coast", 30),
}

var rocket = []Item{
	itemOf("r1", "a", "SpaceX rocket explodes on the launch pad in Texas", 1),
	itemOf("r2", "b", "Rocket explodes on launch pad at SpaceX site in Texas", 6),
	itemOf("r3", "c", "SpaceX launch pad in Texas damaged as rocket explodes", 12),
}

func fresh() *Clusters { return New(Default(), DefaultLimits(), IDs{}) }

// placeAll places items by time and returns the story of each after a pass.
func placeAll(c *Clusters, items ...Item) map[string]string {
	slices.SortStableFunc(items, func(a, b Item) int { return a.Seen.Compare(b.Seen) })
	for _, item := range items {
		c.Place(item)
	}
	c.Tick(c.now.Add(2 * time.Minute))
	stories := make(map[string]string)
	for _, item := range items {
		stories[item.ID] = c.Place(item).StoryID
	}
	return stories
}

func TestPlace_GroupsReportsOfOneEvent(t *testing.T) {
	stories := placeAll(fresh(), slices.Concat(quake, rocket)...)
	for _, id := range []string{"q2", "q3", "q4"} {
		if stories[id] != "q1" {
			t.Errorf("%s is in story %s, want q1", id, stories[id])
		}
	}
	for _, id := range []string{"r2", "r3"} {
		if stories[id] != "r1" {
			t.Errorf("%s is in story %s, want r1", id, stories[id])
		}
	}
}

func TestPlace_ExplainsPlacement(t *testing.T) {
	c := fresh()
	if got := c.Place(quake[0]).Reason; got.By != "first" {
		t.Errorf("the first item: got %+v, want it to be first", got)
	}
	got := c.Place(quake[1]).Reason
	if got.By != "near" || got.Score < got.Threshold || got.Cosine <= 0 || !slices.Contains(got.Shared, "earthquake") {
		t.Errorf("got %+v, want it near by earthquake among others, above the threshold", got)
	}
}

func TestPlace_StoredItemKeepsItsPlacement(t *testing.T) {
	c := fresh()
	first := c.Place(quake[0])
	c.Place(quake[1])
	edited := quake[0]
	edited.Title = rocket[0].Title
	for _, item := range []Item{quake[0], edited} {
		if got := c.Place(item); got.EventID != first.EventID || got.StoryID != first.StoryID || got.Reason.By != "before" {
			t.Errorf("%q placed again: got %+v, want %+v", item.Title, got, first)
		}
	}
	if items, events, _ := c.Len(); items != 2 || events != 1 {
		t.Errorf("got %d items in %d events, want 2 in 1", items, events)
	}
}

func TestPlace_DuplicateJoinsTheOriginalsEvent(t *testing.T) {
	c := fresh()
	c.Place(quake[0])
	other := itemOf("x", "z", "Words of another kind altogether", 3)
	other.DuplicateOf = "q1"
	if got := c.Place(other); got.EventID != "q1" || got.Reason.By != "repeat" {
		t.Errorf("got %+v, want it in the event of the original", got)
	}
	lost := itemOf("y", "z", "Words of one more kind", 3)
	lost.DuplicateOf = "forgotten"
	if got := c.Place(lost); got.EventID != "y" {
		t.Errorf("its original has expired: got %+v, want a new event", got)
	}
}

func TestPlace_HostVotesOnce(t *testing.T) {
	c := fresh()
	c.Place(quake[0])
	before := slices.Clone(c.index.vector(0))
	update := quake[1]
	update.Host = quake[0].Host
	if got := c.Place(update); got.EventID != "q1" {
		t.Fatalf("got event %s for an update of the same host, want q1", got.EventID)
	}
	if e := c.events[0]; e.votes != 1 || !slices.Equal(c.index.vector(0), before) {
		t.Errorf("got %d votes, want 1, and an event about the same as before", e.votes)
	}
}

func TestClusters_AreDeterministic(t *testing.T) {
	run := func() (list []Placement, changes []Change) {
		c := fresh()
		for i := range 3000 {
			item := madeItem(i)
			list = append(list, c.Place(item))
			changes = append(changes, c.Tick(item.Seen)...)
		}
		return list, changes
	}
	list, changes := run()
	repeated, changesAgain := run()
	if !reflect.DeepEqual(list, repeated) || !reflect.DeepEqual(changes, changesAgain) {
		t.Error("the second run differs from the first")
	}
	if len(changes) == 0 {
		t.Error("no story changed, so this shows nothing")
	}
}

// madeItem returns the i-th item of a stream with some 40 subjects at a time. Each item has three neighbouring words
// of the six of its subject, so a subject begins as several events, which grow to have words in common.
func madeItem(i int) Item {
	subject, round := i/400*40+i*7%40, i%400/40
	first := subject*6 + round*3%4
	return itemOf(fmt.Sprint("i", i), fmt.Sprint("h", i%17),
		fmt.Sprintf("w%d w%d w%d c%d c%d", first, first+1, first+2, i%5, i%11), i)
}

func TestTick_StoriesExpireAfterTheWindow(t *testing.T) {
	c := fresh()
	placeAll(c, quake...)
	if got := c.Tick(noon.Add(30*time.Minute + 72*time.Hour)); len(got) != 0 {
		t.Errorf("after 72 hours: got %+v, want nothing yet", got)
	}
	got := c.Tick(noon.Add(33*time.Minute + 72*time.Hour))
	if len(got) != 1 || got[0].Kind != Expired || got[0].Story != "q1" {
		t.Errorf("after more than 72 hours: got %+v, want story q1 expired", got)
	}
	if items, events, stories := c.Len(); items+events+stories != 0 {
		t.Errorf("got %d items, %d events, %d stories, want none", items, events, stories)
	}
	if c.index.terms.len != 0 {
		t.Errorf("got %d terms of expired events, want none", c.index.terms.len)
	}
}

func TestClusters_MemoryIsBounded(t *testing.T) {
	c := New(Default(), Limits{Events: 100, Items: 500, Window: 72 * time.Hour, Reach: 72 * time.Hour}, IDs{})
	flood := func(i int) Item {
		item := itemOf(fmt.Sprint("f", i), "h", "The one thing that a broken feed has to say", 0)
		if i > 0 {
			item.DuplicateOf = fmt.Sprint("f", i-1)
		}
		return item
	}
	for _, make := range []func(int) Item{madeItem, flood} {
		for i := range 10_000 {
			item := make(i)
			c.Place(item)
			c.Tick(item.Seen)
			if items, events, _ := c.Len(); items > 500 || events > 100 {
				t.Fatalf("after %d: %d items and %d events, want at most 500 and 100", i, items, events)
			}
		}
	}
	if n := c.index.terms.len; n > 100*maxTerms {
		t.Errorf("got %d terms, want no more than the events have", n)
	}
	if n := len(c.index.posts.chunks) + len(c.index.arena.chunks); n > 3 {
		t.Errorf("got %d chunks for 100 events, want the freed blocks to be reused", n)
	}
}

func TestPlace_EvictsTheSmallestOfTheOldest(t *testing.T) {
	c := New(Default(), Limits{Events: 2, Items: 100, Window: 72 * time.Hour, Reach: 72 * time.Hour}, IDs{})
	placeAll(c, quake...) // larger, and older
	c.Place(rocket[0])
	c.Place(itemOf("n", "a", "Parliament votes on pensions", 40))
	if got := c.Place(quake[1]); got.EventID != "q1" || got.Reason.By != "before" {
		t.Errorf("got %+v, want the larger event to be there", got)
	}
	if _, ok := c.member("r1"); ok {
		t.Error("the smaller event is there, want it gone")
	}
	before := c.Span()
	if before >= 72*time.Hour {
		t.Errorf("got a span of %v, want that since the evicted event", before)
	}
	c.Tick(c.now.Add(time.Hour))
	if got := c.Span(); got != before+time.Hour {
		t.Errorf("got a span of %v an hour later, want %v", got, before+time.Hour)
	}
	if c.Tick(c.now.Add(100 * time.Hour)); c.Span() != 72*time.Hour {
		t.Errorf("got a span of %v days later, want the whole window", c.Span())
	}
}

func TestRestore_GivesEqualAnswers(t *testing.T) {
	c, rebuilt := fresh(), fresh()
	var items []Item
	for i := range 1500 {
		items = append(items, madeItem(i))
		c.Place(items[i])
		c.Tick(items[i].Seen)
	}
	for _, item := range items {
		if m, ok := c.member(item.ID); ok {
			rebuilt.Restore(item, c.placement(m.slot, Reason{}))
		}
	}
	if a, b, d := c.Len(); func() bool { x, y, z := rebuilt.Len(); return a != x || b != y || d != z }() {
		t.Fatal("the restored state has other items, events or stories")
	}
	if got := rebuilt.Tick(rebuilt.now.Add(time.Second)); len(got) != 0 {
		t.Errorf("got %+v, want that nothing changes by being read back", got)
	}
	same := 0
	for i := 1500; i < 1700; i++ {
		a, b := c.Place(madeItem(i)), rebuilt.Place(madeItem(i))
		if a.EventID == b.EventID {
			same++
		}
	}
	if same < 195 { // what terms say was rounded at other times
		t.Errorf("got %d of 200 items in the event they would have been in, want 195", same)
	}
}

func TestNew_UsesTheCallersIDs(t *testing.T) {
	c := New(Default(), DefaultLimits(), IDs{
		Event: func(id string) string { return "e:" + id }, Story: func(id string) string { return "s:" + id },
	})
	if got := c.Place(quake[0]); got.EventID != "e:q1" || got.StoryID != "s:e:q1" {
		t.Errorf("got %+v, want e:q1 in s:e:q1", got)
	}
}

func TestJoin_KeepsTheIDOfTheLargerStory(t *testing.T) {
	c := fresh()
	c.Place(rocket[0])
	for _, item := range quake {
		c.Place(item)
	}
	c.Tick(noon.Add(40 * time.Minute))
	if err := c.Join("r1", "q1"); err != nil {
		t.Fatal(err)
	}
	got := c.Tick(noon.Add(50 * time.Minute))
	if len(got) != 1 || got[0].Kind != Merged || got[0].Story != "r1" || got[0].Into != "q1" || !slices.Equal(got[0].Events, []string{"r1"}) {
		t.Errorf("got %+v, want r1 merged into q1, which has more items", got)
	}
}

func TestJoin_StaysTogether(t *testing.T) {
	c := fresh()
	placeAll(c, slices.Concat(quake, rocket)...)
	if err := c.Join("q1", "r1"); err != nil {
		t.Fatal(err)
	}
	c.Place(itemOf("q5", "e", "Earthquake off Aceh: what is known", 60))
	c.Place(itemOf("r4", "e", "Rocket explodes: what SpaceX says", 61))
	for i := range 5 {
		c.Tick(noon.Add(time.Duration(70+2*i) * time.Minute))
	}
	if q, r := c.Place(quake[0]), c.Place(rocket[0]); q.StoryID != r.StoryID {
		t.Errorf("got stories %s and %s after later passes, want one", q.StoryID, r.StoryID)
	}
	if got := c.Overrides(); !slices.Equal(got, []Override{{"q1", "r1", true}}) {
		t.Errorf("got %v, want the manual edit", got)
	}
}

func TestSplit_StaysApart(t *testing.T) {
	c := fresh()
	placeAll(c, slices.Concat(quake, rocket)...)
	placed, err := c.SplitItem(quake[3])
	if err != nil || placed.EventID != "q4" || placed.StoryID != "q4" {
		t.Fatalf("got %+v, %v; want event and story q4", placed, err)
	}
	c.Place(itemOf("q5", "e", "Earthquake strikes off Aceh coast, tsunami warning", 60))
	for i := range 5 {
		c.Tick(noon.Add(time.Duration(70+2*i) * time.Minute))
	}
	if q, r := c.Place(quake[0]), c.Place(quake[3]); q.StoryID == r.StoryID {
		t.Errorf("both are in story %s after later passes, want two stories", q.StoryID)
	}
	if err := c.Join("q1", "q4"); err != nil {
		t.Fatal(err)
	}
	if q, r := c.Place(quake[0]), c.Place(quake[3]); q.StoryID != r.StoryID {
		t.Error("joined again manually: got two stories, want one")
	}
	if err := c.Split("q4"); err != nil {
		t.Fatal(err)
	}
	if q, r := c.Place(quake[0]), c.Place(quake[3]); q.StoryID == r.StoryID || r.StoryID != "q4" {
		t.Errorf("split again: got stories %s and %s, want the previous ID", q.StoryID, r.StoryID)
	}
}

func TestSplitItem_FirstItemOfItsEvent(t *testing.T) {
	c := fresh()
	placeAll(c, quake...)
	placed, err := c.SplitItem(quake[0])
	if err != nil || placed.EventID == "q1" || placed.StoryID == "q1" {
		t.Errorf("got %+v, %v; want other IDs than those that the others keep", placed, err)
	}
	if got := c.Place(quake[1]); got.EventID != "q1" || got.StoryID != "q1" {
		t.Errorf("got %+v for the others, want q1 as before", got)
	}
}

func TestSplitItem_WithoutVoteKeepsTheVector(t *testing.T) {
	c := fresh()
	c.Place(quake[0])
	before := slices.Clone(c.index.vector(0))
	update := quake[1]
	update.Host = quake[0].Host
	c.Place(update)
	if _, err := c.SplitItem(update); err != nil {
		t.Fatal(err)
	}
	if e := c.events[0]; e.votes != 1 || !slices.Equal(c.index.vector(0), before) {
		t.Errorf("got %d votes and a changed event, want it as it was before", e.votes)
	}
}

func TestOverrides_LaterDecisionReplaces(t *testing.T) {
	c := fresh()
	placeAll(c, slices.Concat(quake, rocket)...)
	c.AddOverride(Override{A: "r1", B: "q1"})
	c.AddOverride(Override{A: "q1", B: "gone", Together: true})
	if got := c.Overrides(); !slices.Equal(got, []Override{{"q1", "r1", false}}) {
		t.Errorf("got %v, want the story of current events", got)
	}
}

func TestOverrides_NeedStoredEvents(t *testing.T) {
	c := fresh()
	c.Place(quake[0])
	if err := c.Join("q1", "gone"); !errors.Is(err, ErrNotFound) {
		t.Errorf("join: got %v, want %v", err, ErrNotFound)
	}
	if err := c.Split("gone"); !errors.Is(err, ErrNotFound) {
		t.Errorf("split: got %v, want %v", err, ErrNotFound)
	}
	if err := c.Split("q1"); !errors.Is(err, ErrNothingToSplit) {
		t.Errorf("split of a whole story: got %v, want %v", err, ErrNothingToSplit)
	}
	if _, err := c.SplitItem(quake[0]); !errors.Is(err, ErrNothingToSplit) {
		t.Errorf("split of the only item: got %v, want %v", err, ErrNothingToSplit)
	}
	if _, err := c.SplitItem(quake[1]); !errors.Is(err, ErrNotFound) {
		t.Errorf("split of a missing item: got %v, want %v", err, ErrNotFound)
	}
}

func TestOverrides_ExpireWithTheirEvents(t *testing.T) {
	c := fresh()
	placeAll(c, slices.Concat(quake, rocket)...)
	if err := c.Join("q1", "r1"); err != nil {
		t.Fatal(err)
	}
	c.Tick(noon.Add(100 * time.Hour))
	if len(c.overrides) != 0 {
		t.Errorf("got %v, want nothing of events that expired", c.overrides)
	}
}

func TestTick_SplitsDissimilarStories(t *testing.T) {
	c := fresh()
	placeAll(c, quake...)
	var want []string
	for i, title := range []string{
		"Parliament votes on pensions after long debate", "Copper plunges to lowest price in years",
		"Singer cancels tour over throat infection", "Museum opens wing for ancient coins",
		"Striker signs for rival club", "Storm cuts power in northern villages",
		"Study links coffee with longer sleep", "Airline orders forty regional jets",
	} {
		id := fmt.Sprint("x", i)
		want = append(want, id)
		c.Place(itemOf(id, "a", title, 31+i))
		if err := c.Join("q1", id); err != nil {
			t.Fatal(err)
		}
		c.removeOverride("q1", id) // as if a pass had joined them
	}
	var left []string
	for _, change := range c.Tick(noon.Add(70 * time.Minute)) {
		if change.Kind == Split && change.Story == "q1" {
			left = append(left, change.Into)
		}
	}
	slices.Sort(left)
	if !slices.Equal(left, want) {
		t.Errorf("%q left, want %q to leave with unchanged IDs", left, want)
	}
}

func TestOverride_JSON(t *testing.T) {
	want := Override{A: "q1", B: "r1", Together: true}
	b, err := json.Marshal(want)
	if err != nil || string(b) != `{"a":"q1","b":"r1","together":true}` {
		t.Fatalf("got %s, %v", b, err)
	}
	var got Override
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestOverrides_SurviveARebuild(t *testing.T) {
	c := fresh()
	items := slices.Concat(quake, rocket)
	placeAll(c, items...)
	if _, err := c.SplitItem(quake[3]); err != nil {
		t.Fatal(err)
	}
	if err := c.Join("q1", "r1"); err != nil {
		t.Fatal(err)
	}
	rebuilt := fresh()
	for _, item := range items { // placeAll sorted them
		rebuilt.Restore(item, c.placement(c.items[keyOf(item.ID)].slot, Reason{}))
	}
	for _, h := range c.Overrides() {
		rebuilt.AddOverride(h)
	}
	rebuilt.Place(itemOf("q5", "e", "Earthquake strikes off Aceh coast, tsunami warning", 60))
	for i := range 5 {
		if got := rebuilt.Tick(noon.Add(time.Duration(70+2*i) * time.Minute)); len(got) != 0 {
			t.Errorf("got %+v, want nothing moved", got)
		}
	}
	if q, r, s := rebuilt.Place(quake[0]), rebuilt.Place(rocket[0]), rebuilt.Place(quake[3]); q.StoryID != r.StoryID || q.StoryID == s.StoryID {
		t.Errorf("got stories %s, %s and %s; want one story for the first two, another for the third", q.StoryID, r.StoryID, s.StoryID)
	}
}

func TestOverrides_RepeatedEditsUseBoundedMemory(t *testing.T) {
	c := fresh()
	placeAll(c, slices.Concat(quake, rocket)...)
	story := c.Place(quake[0]).StoryID
	for range 500 {
		if err := c.Join("q1", "r1"); err != nil {
			t.Fatal(err)
		}
		if err := c.Join("r1", "q1"); err != nil {
			t.Fatal(err)
		}
		if q, r := c.Place(quake[0]), c.Place(rocket[0]); q.StoryID != story || r.StoryID != story {
			t.Fatalf("joined: got stories %s and %s, want %s", q.StoryID, r.StoryID, story)
		}
		if err := c.Split("r1"); err != nil {
			t.Fatal(err)
		}
		if err := c.Split("r1"); !errors.Is(err, ErrNothingToSplit) {
			t.Fatalf("split twice: got %v, want %v", err, ErrNothingToSplit)
		}
		if r := c.Place(rocket[0]); r.StoryID != "r1" {
			t.Fatalf("split: got story %s, want r1", r.StoryID)
		}
		c.Tick(c.now)
	}
	if n, undo := len(c.Overrides()), len(c.undo[c.stories[keyOf(story)]]); n != 1 || undo != 0 || len(c.changes) != 0 {
		t.Errorf("got %d overrides, %d lines of undo, %d changes; want the last edit only", n, undo, len(c.changes))
	}
}

func TestSplit_OfExpiredEventsReturnsErrNotFound(t *testing.T) {
	c := fresh()
	placeAll(c, slices.Concat(quake, rocket)...)
	if err := c.Join("q1", "r1"); err != nil {
		t.Fatal(err)
	}
	c.Place(itemOf("n", "a", "Parliament votes on pensions", 60*72))
	c.Place(itemOf("r5", "d", "Rocket explodes on launch pad at SpaceX site in Texas", 60*72+5)) // expired by then
	c.Tick(noon.Add(73 * time.Hour))
	if _, err := c.SplitItem(quake[0]); !errors.Is(err, ErrNotFound) {
		t.Errorf("the item: got %v, want %v", err, ErrNotFound)
	}
	if err := c.Split("q1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the event: got %v, want %v", err, ErrNotFound)
	}
	if err := c.Join("q1", "n"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the join: got %v, want %v", err, ErrNotFound)
	}
	if len(c.Overrides()) != 0 {
		t.Errorf("got overrides %v of events that are gone", c.Overrides())
	}
}

func TestSplitItem_EventOutlivesItsFirstItem(t *testing.T) {
	c := fresh()
	placeAll(c, quake...)
	left, err := c.SplitItem(quake[0])
	if err != nil {
		t.Fatal(err)
	}
	c.removeEvent(c.byID[keyOf(left.EventID)], "evicted: the limit was reached")
	repeated := quake[0]
	repeated.Title = "Parliament votes on pensions"
	if got := c.Place(repeated); got.EventID == "q1" || got.StoryID == "q1" {
		t.Errorf("got %+v, want IDs that are not in use", got)
	}
	if got := c.Place(quake[1]); got.EventID != "q1" || len(c.byID) != 2 {
		t.Errorf("got %+v and %d events, want q1 unchanged and a new event", got, len(c.byID))
	}
}

func TestPlace_PrecomputedFeaturesGiveEqualAnswers(t *testing.T) {
	w := Default()
	long := quake[0]
	long.Text = strings.Repeat("The quake struck off Banda Aceh on Tuesday. ", 400)
	short := long
	short.Text = long.Text[:MaxText]
	if a, b := w.Extract(long), w.Extract(short); !reflect.DeepEqual(a, b) {
		t.Error("two texts that begin with the same are read differently")
	}
	plain, read := fresh(), fresh()
	for i := range 500 {
		item := madeItem(i)
		want := plain.Place(item)
		item.Features = w.Extract(item)
		if got := read.Place(item); !reflect.DeepEqual(got, want) {
			t.Fatalf("item %d: got %+v, want %+v", i, got, want)
		}
	}
}

// Words are long, short and of several scripts, so that a text is processed in one piece or in several.
func TestFirstWords_EqualThoseOfTheWholeText(t *testing.T) {
	long := strings.Repeat("Достопримечательности Санкт-Петербурга, c++ node.js 7.1 don't; 東京 ", 60)
	for _, s := range []string{"", "one", " ", long, long[:700], strings.Repeat("a b ", 500), strings.Repeat("x", 5000), "a " + strings.Repeat("東", 900)} {
		all := text.Words(s)
		for _, n := range []int{1, 2, 10, 60, 300, 1000} {
			if got, want := firstWords(s, n), all[:min(n, len(all))]; !slices.Equal(got, want) {
				t.Errorf("the first %d of %.30q: got %v, want %v", n, s, got, want)
			}
		}
	}
}

func TestExtract_IsSafeForConcurrentUse(t *testing.T) {
	w := Default()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 300 {
				item := madeItem(i)
				if a, b := w.Extract(item), w.Extract(item); !reflect.DeepEqual(a, b) {
					t.Errorf("item %d is read as %v, then as %v", i, a, b)
				}
			}
		})
	}
	group.Wait()
}

func TestNeedsText_NotForAHostThatVoted(t *testing.T) {
	c := fresh()
	as := Placement{EventID: "q1", StoryID: "q1"}
	for _, test := range []struct {
		id, host, repeats string
		want              bool
	}{{"q1", "a", "", true}, {"q2", "a", "", false}, {"q3", "b", "q1", false}, {"q4", "b", "gone", true}, {"q5", "b", "", false}, {"q6", "", "", true}} {
		item := itemOf(test.id, test.host, "Magnitude 7.3 earthquake strikes off the coast of Aceh", 0)
		item.DuplicateOf = test.repeats
		if got := c.NeedsText(item, as); got != test.want {
			t.Errorf("item %s: got %v, want %v", test.id, got, test.want)
		}
		votes := c.events
		before := uint32(0)
		if len(votes) > 0 {
			before = votes[0].votes
		}
		c.Restore(item, as)
		if got := c.events[0].votes > before; got != test.want {
			t.Errorf("item %s: text needed: got %v, want %v", test.id, got, test.want)
		}
	}
}

func TestRestore_FirstPassProcessesRecentEvents(t *testing.T) {
	c := fresh()
	second := quake[1]
	second.Seen = noon.Add(time.Second)
	// The two events have not been compared before the restore.
	c.Restore(quake[0], Placement{EventID: "e1", StoryID: "s1"})
	c.Restore(second, Placement{EventID: "e2", StoryID: "s2"})
	got := c.Tick(noon.Add(2 * time.Second))
	if len(got) != 1 || got[0].Kind != Merged || got[0].Into != "s1" {
		t.Errorf("got %+v, want s2 merged into s1", got)
	}
}
