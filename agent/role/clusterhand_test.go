package role

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/storage"
	"feedmesh/subjects"
)

func TestItemsThatTellOfOneThingAreAStory(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	other := n.publish("one.example", "Apple unveils a thinner laptop with longer battery life")[0]
	n.later(2 * time.Minute)
	if !n.together(items...) {
		t.Errorf("got %+v, want one story", n.items(items[0].ID, items[1].ID, items[2].ID))
	}
	if n.together(items[0], other) {
		t.Error("a laptop belongs to the story of a quake")
	}
	if items[1].StoryWhy == "" || !strings.Contains(items[1].StoryWhy, "alike") {
		t.Errorf("got %q, want why it belongs there", items[1].StoryWhy)
	}
}

func TestATitleWithAnotherTailRepeats(t *testing.T) {
	n := newNewsroom(t)
	first := n.publish("one.example", "Kernel 6.12 adds real time scheduling for everyone")[0]
	again := n.publish("two.example", "Kernel 6.12 adds real time scheduling for everyone - Two News")[0]
	other := n.publish("three.example", "Kernel 6.13 adds real time scheduling for everyone")[0]
	if again.DuplicateOf != first.ID || again.DuplicateBy != "title" || again.DuplicateScore < 0.9 || again.DuplicateWhy == "" || again.EventID != first.EventID {
		t.Errorf("got %+v, want it to repeat the first by its title, and why", again)
	}
	if other.DuplicateOf != "" {
		t.Errorf("got %q: %s, want another number to be another thing", other.DuplicateOf, other.DuplicateWhy)
	}
}

func TestSpamDrawsNothingToItself(t *testing.T) {
	n := newNewsroom(t)
	spam := n.put("spam.example", storage.Item{Key: "1", Title: "Strong earthquake hits Chile coast near Iquique", Spam: true})[0]
	items := n.quake()
	if items[0].DuplicateOf != "" || n.together(spam, items[0]) {
		t.Errorf("got %+v, want it to be no duplicate of spam, nor in its story", items[0])
	}
	if spam.EventID == "" || spam.StoryID == "" {
		t.Errorf("got %+v, want a story of its own", spam)
	}
}

func TestAnEditedItemStaysWhereItBelongs(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	before := n.items(items[2].ID)[0]
	edited := n.put("three.example", storage.Item{Key: before.Key, Title: "Nine things to do with a laptop", URL: before.URL})[0]
	if edited.Revision != 2 || edited.EventID != before.EventID || edited.StoryID != before.StoryID {
		t.Errorf("got %+v, want a second revision in the story of the first", edited)
	}
}

func TestTenThousandEqualItemsAreOneEvent(t *testing.T) {
	n := newNewsroom(t)
	var list []storage.Item
	for i := range 10_000 {
		list = append(list, storage.Item{Key: fmt.Sprint(i), Title: "We are hiring engineers for our new office in Berlin"})
	}
	began := time.Now()
	items := n.put("broken.example", list...)
	events := map[string]bool{}
	for _, i := range items {
		events[i.EventID] = true
	}
	if len(events) != 1 {
		t.Errorf("got %d events, want one", len(events))
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestWhatAHandSplitsStaysSplit(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	n.later(2 * time.Minute)
	n.decide(subjects.SplitItem, items[2].ID, "")
	n.later(2 * time.Minute)
	check := func(when string) {
		t.Helper()
		if n.together(items[0], items[2]) || !n.together(items[0], items[1]) {
			t.Errorf("%s: got stories of %+v, want the third apart", when, n.items(items[0].ID, items[1].ID, items[2].ID))
		}
	}
	check("at once")
	n.publish("four.example", "Chile quake: tsunami warning for Iquique after strong earthquake")
	n.later(2 * time.Minute)
	check("after a later pass")
	n.takeOver()
	n.publish("five.example", "Strong earthquake off Chile, tsunami warning near Iquique")
	n.later(2 * time.Minute)
	check("after another took over")
	if got := n.items(items[2].ID)[0]; got.DuplicateBy != "hand" {
		t.Errorf("got %+v, want it to say that a person split it", got)
	}
}

func TestWhatAHandJoinsStaysJoined(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	other := n.publish("one.example", "Apple unveils a thinner laptop with longer battery life")[0]
	n.decide(subjects.JoinStories, items[0].StoryID, other.StoryID)
	if !n.together(items[0], other) {
		t.Fatal("they are two stories still")
	}
	n.takeOver()
	more := n.publish("two.example", "Thinner laptop with longer battery life unveiled by Apple")[0]
	n.later(2 * time.Minute)
	if !n.together(items[0], other) || more.EventID == other.EventID && !n.together(more, other) {
		t.Errorf("got %+v, want one story still", n.items(items[0].ID, other.ID, more.ID))
	}
	n.decide(subjects.SplitEvent, other.EventID, n.items(other.ID)[0].StoryID)
	if n.together(items[0], other) {
		t.Error("a later decision does not hold")
	}
}

func TestAHandSaysWhatRepeatsWhat(t *testing.T) {
	n := newNewsroom(t)
	first := n.publish("one.example", "Kernel 6.12 adds real time scheduling for everyone")[0]
	again := n.publish("two.example", "Kernel 6.12 adds real time scheduling for everyone - Two News")[0]
	other := n.publish("three.example", "Linux becomes a real time system at last")[0]
	n.decide(subjects.DifferItem, again.ID, "")
	if got := n.items(again.ID)[0]; got.DuplicateOf != "" || got.DuplicateBy != "hand" {
		t.Errorf("got %+v, want it to repeat nothing, by hand", got)
	}
	n.decide(subjects.RepeatItem, first.ID, other.ID)
	if got := n.items(other.ID)[0]; got.DuplicateOf != first.ID || got.EventID != first.EventID || !n.together(got, first) {
		t.Errorf("got %+v, want it to repeat the first, in its event", got)
	}
	n.takeOver()
	later := n.publish("four.example", "Kernel 6.12 adds real time scheduling for everyone | Four")[0]
	if later.DuplicateOf == "" {
		t.Errorf("got %+v, want others to repeat it still", later)
	}
}

// What is older than the window is no longer in memory, yet a person may still say
// where it belongs.
func TestOldStoriesAreSplitAndJoinedToo(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	n.later(2 * time.Minute)
	n.now = n.now.Add(100 * 24 * time.Hour)
	n.takeOver()
	n.decide(subjects.SplitItem, items[1].ID, "")
	if n.together(items[0], items[1]) {
		t.Error("the second is still in the story")
	}
	n.decide(subjects.JoinStories, n.items(items[0].ID)[0].StoryID, n.items(items[1].ID)[0].StoryID)
	if !n.together(items[0], items[1]) {
		t.Error("they are not one story again")
	}
}

func TestADecisionOnWhatIsGoneIsDropped(t *testing.T) {
	n := newNewsroom(t)
	for _, hand := range []subjects.Hand{{Do: subjects.SplitItem, A: "gone"}, {Do: "paint it red", A: "gone"}, {Do: subjects.JoinStories, A: "gone", B: "too"}} {
		err := n.cluster.Receive(t.Context(), subjects.Cluster{Lane: "en", Hand: &hand})
		if reflect.TypeOf(err) != reflect.TypeOf(mesh.Drop(nil)) {
			t.Errorf("%s: got %v, want the task to be dropped", hand.Do, err)
		}
	}
}

// The store may be away while stories become one: it is told when it is back.
func TestWhatTheStoreCouldNotBeToldItIsToldLater(t *testing.T) {
	n := newNewsroom(t)
	items := n.quake()
	n.cluster.undone.Events = append(n.cluster.undone.Events, storage.EventMove{EventID: items[0].EventID, StoryID: "elsewhere"})
	store := n.cluster.store
	n.cluster.store = unwilling{store}
	n.later(2 * time.Minute)
	if n.items(items[0].ID)[0].StoryID == "elsewhere" {
		t.Fatal("the store was not away")
	}
	n.cluster.store = store
	n.later(time.Minute)
	if got := n.items(items[0].ID)[0].StoryID; got != "elsewhere" {
		t.Errorf("got story %q, want what it was to be told", got)
	}
}

// unwilling is a store that can't be told anything now.
type unwilling struct{ storage.Store }

func (unwilling) Rearrange(context.Context, storage.Rearrangement) ([]string, error) {
	return nil, storage.ErrUnavailable
}
