package cluster

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
	"feedmesh/tests/cputime"
)

func TestCluster_ItemsOnOneSubjectAreAStory(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	other := n.publish("one.example", "Apple unveils a thinner laptop with longer battery life")[0]
	n.advance(2 * time.Minute)
	if !n.sameStory(items...) {
		t.Errorf("got %+v, want one story", n.items(items[0].ID, items[1].ID, items[2].ID))
	}
	if n.sameStory(items[0], other) {
		t.Error("got the laptop item in the earthquake's story")
	}
	if items[1].StoryReason == "" || !strings.Contains(items[1].StoryReason, "similar") {
		t.Errorf("got %q, want the reason of the placement", items[1].StoryReason)
	}
}

func TestCluster_TitleWithAnotherSuffixIsADuplicate(t *testing.T) {
	n := newPipelineFixture(t)
	first := n.publish("one.example", "Kernel 6.12 adds real time scheduling for everyone")[0]
	again := n.publish("two.example", "Kernel 6.12 adds real time scheduling for everyone - Two News")[0]
	other := n.publish("three.example", "Kernel 6.13 adds real time scheduling for everyone")[0]
	if again.DuplicateOf != first.ID || again.DuplicateBy != "title" || again.DuplicateScore < 0.9 || again.DuplicateReason == "" || again.EventID != first.EventID {
		t.Errorf("got %+v, want a duplicate of the first by title, with a reason", again)
	}
	if other.DuplicateOf != "" {
		t.Errorf("got %q: %s, want no duplicate: the version number differs", other.DuplicateOf, other.DuplicateReason)
	}
}

func TestCluster_SpamStaysAlone(t *testing.T) {
	n := newPipelineFixture(t)
	spam := n.put("spam.example", storage.Item{Key: "1", Title: "Strong earthquake hits Chile coast near Iquique", Spam: true})[0]
	items := n.quake()
	if items[0].DuplicateOf != "" || n.sameStory(spam, items[0]) {
		t.Errorf("got %+v, want neither a duplicate of spam nor its story", items[0])
	}
	if spam.EventID == "" || spam.StoryID == "" {
		t.Errorf("got %+v, want a separate story", spam)
	}
}

func TestCluster_ChangedItemKeepsItsPlacement(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	before := n.items(items[2].ID)[0]
	edited := n.put("three.example", storage.Item{Key: before.Key, Title: "Nine things to do with a laptop", URL: before.URL})[0]
	if edited.Revision != 2 || edited.EventID != before.EventID || edited.StoryID != before.StoryID {
		t.Errorf("got %+v, want a second revision in the story of the first", edited)
	}
}

func TestCluster_TenThousandEqualItemsAreOneEvent(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: takes a second")
	}
	n := newPipelineFixture(t)
	var list []storage.Item
	for i := range 10_000 {
		list = append(list, storage.Item{Key: fmt.Sprint(i), Title: "We are hiring engineers for our new office in Berlin"})
	}
	began := cputime.Used(t)
	items := n.put("broken.example", list...)
	events := map[string]bool{}
	for _, i := range items {
		events[i.EventID] = true
	}
	if len(events) != 1 {
		t.Errorf("got %d events, want one", len(events))
	}
	if took := cputime.Used(t) - began; took > 30*time.Second {
		t.Errorf("took %v of CPU time, want 30 s at most", took)
	}
}

func TestApplyEdit_SplitPersists(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	n.advance(2 * time.Minute)
	n.edit(subjects.SplitItem, items[2].ID, "")
	n.advance(2 * time.Minute)
	check := func(when string) {
		t.Helper()
		if n.sameStory(items[0], items[2]) || !n.sameStory(items[0], items[1]) {
			t.Errorf("%s: got %+v, want the third item in a separate story", when, n.items(items[0].ID, items[1].ID, items[2].ID))
		}
	}
	check("at once")
	n.publish("four.example", "Chile quake: tsunami warning for Iquique after strong earthquake")
	n.advance(2 * time.Minute)
	check("after a later pass")
	n.takeOver()
	n.publish("five.example", "Strong earthquake off Chile, tsunami warning near Iquique")
	n.advance(2 * time.Minute)
	check("after another took over")
	if got := n.items(items[2].ID)[0]; got.DuplicateBy != "hand" {
		t.Errorf("got %+v, want a manual split as reason", got)
	}
}

func TestApplyEdit_JoinPersists(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	other := n.publish("one.example", "Apple unveils a thinner laptop with longer battery life")[0]
	follows := storage.Follows(n.store)
	for client, story := range map[string]string{"ann": items[0].StoryID, "bob": other.StoryID} {
		if _, err := follows.Put(t.Context(), storage.Follow{Client: client, Kind: storage.FollowStory, Value: story}); err != nil {
			t.Fatal(err)
		}
	}
	n.edit(subjects.JoinStories, items[0].StoryID, other.StoryID)
	if !n.sameStory(items[0], other) {
		t.Fatal("got two stories after the join")
	}
	for _, client := range []string{"ann", "bob"} {
		got, err := follows.List(t.Context(), client)
		if want := n.items(other.ID)[0].StoryID; err != nil || len(got) != 1 || got[0].Value != want {
			t.Errorf("%s follows %+v, %v, want story %s", client, got, err, want)
		}
	}
	n.takeOver()
	more := n.publish("two.example", "Thinner laptop with longer battery life unveiled by Apple")[0]
	n.advance(2 * time.Minute)
	if !n.sameStory(items[0], other) || more.EventID == other.EventID && !n.sameStory(more, other) {
		t.Errorf("got %+v, want one story", n.items(items[0].ID, other.ID, more.ID))
	}
	n.edit(subjects.SplitEvent, other.EventID, n.items(other.ID)[0].StoryID)
	if n.sameStory(items[0], other) {
		t.Error("got the later edit without effect")
	}
}

func TestApplyEdit_Duplicates(t *testing.T) {
	n := newPipelineFixture(t)
	first := n.publish("one.example", "Kernel 6.12 adds real time scheduling for everyone")[0]
	again := n.publish("two.example", "Kernel 6.12 adds real time scheduling for everyone - Two News")[0]
	other := n.publish("three.example", "Linux becomes a real time system at last")[0]
	n.edit(subjects.DifferItem, again.ID, "")
	if got := n.items(again.ID)[0]; got.DuplicateOf != "" || got.DuplicateBy != "hand" {
		t.Errorf("got %+v, want no duplicate, by manual edit", got)
	}
	n.edit(subjects.RepeatItem, first.ID, other.ID)
	if got := n.items(other.ID)[0]; got.DuplicateOf != first.ID || got.EventID != first.EventID || !n.sameStory(got, first) {
		t.Errorf("got %+v, want a duplicate of the first, in its event", got)
	}
	n.takeOver()
	later := n.publish("four.example", "Kernel 6.12 adds real time scheduling for everyone | Four")[0]
	if later.DuplicateOf == "" {
		t.Errorf("got %+v, want a duplicate of the edited item", later)
	}
}

// Edits also apply to items older than the window, which are no longer in memory.
func TestApplyEdit_OutsideTheWindow(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	n.advance(2 * time.Minute)
	n.now = n.now.Add(100 * 24 * time.Hour)
	n.takeOver()
	n.edit(subjects.SplitItem, items[1].ID, "")
	if n.sameStory(items[0], items[1]) {
		t.Error("got the second item still in the story")
	}
	n.edit(subjects.JoinStories, n.items(items[0].ID)[0].StoryID, n.items(items[1].ID)[0].StoryID)
	if !n.sameStory(items[0], items[1]) {
		t.Error("got two stories after the join, want one")
	}
}

func TestApplyEdit_OfMissingItemsIsDiscarded(t *testing.T) {
	n := newPipelineFixture(t)
	for _, edit := range []subjects.Override{{Kind: subjects.SplitItem, A: "gone"}, {Kind: "paint it red", A: "gone"}, {Kind: subjects.JoinStories, A: "gone", B: "too"}} {
		err := n.cluster.Receive(t.Context(), subjects.Cluster{Partition: "en", Override: &edit})
		if reflect.TypeOf(err) != reflect.TypeOf(mesh.Discard(nil)) {
			t.Errorf("%s: got %v, want the task discarded", edit.Kind, err)
		}
	}
}

// If the store is unavailable while stories merge, the change is written later.
func TestRearrange_IsRetriedAfterStoreErrors(t *testing.T) {
	n := newPipelineFixture(t)
	items := n.quake()
	n.cluster.pending.Events = append(n.cluster.pending.Events, storage.EventMove{EventID: items[0].EventID, StoryID: "elsewhere"})
	store := n.cluster.store
	n.cluster.store = failingStore{store}
	n.advance(2 * time.Minute)
	if n.items(items[0].ID)[0].StoryID == "elsewhere" {
		t.Fatal("Rearrange was not called while the store failed")
	}
	n.cluster.store = store
	n.advance(time.Minute)
	if got := n.items(items[0].ID)[0].StoryID; got != "elsewhere" {
		t.Errorf("got story %q, want the delayed change written", got)
	}
}

// failingStore is a store whose Rearrange fails.
type failingStore struct{ storage.Store }

func (failingStore) Rearrange(context.Context, storage.Rearrangement) ([]string, error) {
	return nil, storage.ErrUnavailable
}
