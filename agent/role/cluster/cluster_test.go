package cluster

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/store"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// clustererOf returns the active clusterer of partition en with the items of a store loaded.
func clustererOf(t *testing.T, store storage.Store, out subjects.Publisher) *clusterer {
	t.Helper()
	r := prometheus.NewRegistry()
	c := newClusterer(&work.Env{
		Config: config.Default(), Store: store, Metrics: r, Log: slog.New(slog.DiscardHandler), Clock: worktest.AtNoon,
	}, out, newMetrics(r), "en")
	if err := c.takeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// storerOf returns the actor that stores placed items.
func storerOf(s storage.Store, out subjects.Publisher) mesh.Actor[subjects.Store] {
	return store.NewActor(&work.Env{Store: s, Metrics: prometheus.NewRegistry()}, out)
}

// place returns the store task for a cluster task.
func place(t *testing.T, c *clusterer, task subjects.Cluster) subjects.Store {
	t.Helper()
	task.Items = slices.Clone(task.Items) // the actor owns a task; tests reuse theirs
	if err := c.Receive(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	return worktest.Only(t, c.out.(*worktest.Outbox), subjects.StoreQueue)
}

func TestCluster_DuplicatesJoinTheEventOfTheFirst(t *testing.T) {
	c := clustererOf(t, enginetest.Store(t), &worktest.Outbox{})
	first, other := worktest.Item("a", "1", "x", "same"), worktest.Item("a", "2", "y", "other")
	placed := place(t, c, worktest.ClusterTask("a", 1, first, other))
	for i, item := range placed.Items {
		if item.DuplicateOf != "" || item.EventID != storage.EventID(item.ID) || item.StoryID != storage.StoryID(item.EventID) {
			t.Errorf("item %d: got %+v, want a new event and story", i, item)
		}
	}
	for _, test := range []struct {
		item   storage.Item
		of, by string
	}{
		{worktest.Item("b", "1", "z", "same"), first.ID, "text"},
		{worktest.Item("c", "1", "x", "mine"), first.ID, "url"},
		{worktest.Item("d", "1", "q", "mine"), first.ID, "text"}, // of c, which duplicates the first
		{worktest.Item("a", "3", "y", "third"), "", ""},          // a feed may link all items to one page
	} {
		got := place(t, c, worktest.ClusterTask(test.item.FeedID, 2, test.item)).Items[0]
		begin := test.of
		if begin == "" {
			begin = test.item.ID
		}
		if got.DuplicateOf != test.of || got.DuplicateBy != test.by || got.EventID != storage.EventID(begin) || got.StoryID != storage.StoryID(got.EventID) {
			t.Errorf("item %s of feed %s: got %+v, want a duplicate of %q by %q", test.item.Key, test.item.FeedID, got, test.of, test.by)
		}
	}
}

func TestCluster_RepeatedTaskIsPlacedAlike(t *testing.T) {
	c := clustererOf(t, enginetest.Store(t), &worktest.Outbox{})
	task := worktest.ClusterTask("a", 1, worktest.Item("a", "1", "x", "same"), worktest.Item("a", "2", "y", "same"), worktest.Item("a", "3", "x", "more"))
	first := place(t, c, task)
	place(t, c, worktest.ClusterTask("b", 1, worktest.Item("b", "1", "y", "another")))
	second := place(t, c, task)
	if first.ID() != second.ID() || first.Fence != (storage.Fence{Name: "cluster-en", Number: 1}) {
		t.Errorf("got tasks %s and %s with fence %+v, want equal tasks with the first fence", first.ID(), second.ID(), first.Fence)
	}
	for i := range first.Items {
		if a, b := first.Items[i], second.Items[i]; a.DuplicateOf != b.DuplicateOf || a.EventID != b.EventID {
			t.Errorf("item %d: got duplicate of %q, then of %q", i, a.DuplicateOf, b.DuplicateOf)
		}
	}
	if first.Items[1].DuplicateOf != first.Items[0].ID {
		t.Errorf("got %+v, want a duplicate of the previous item of the document", first.Items[1])
	}
}

// An item that was published long before it was first seen is no part of today's stories, also after a takeover. It is
// of those of its time. One without a date is of now.
func TestCluster_ArchivesAreNoPartOfTodaysStories(t *testing.T) {
	store := enginetest.Store(t)
	c := clustererOf(t, store, &worktest.Outbox{})
	item := func(feed string, age time.Duration) storage.Item {
		i := worktest.Item(feed, "1", feed, "")
		i.Title = "Earthquake strikes off Aceh coast, tsunami warning issued by " + feed
		i.Published = i.FirstSeen.Add(-age)
		return i
	}
	undated := item("e", 999*time.Hour)
	undated.Assumed, undated.Published = "missing", undated.FirstSeen
	stories := map[string]string{}
	k := storerOf(store, &worktest.Outbox{})
	for n, i := range []storage.Item{item("a", 999*time.Hour), item("b", time.Hour), item("c", 100*time.Hour), item("d", 2*time.Hour), undated, item("g", 1000*time.Hour)} {
		placed := place(t, c, worktest.ClusterTask(i.FeedID, n, i))
		stories[i.FeedID] = placed.Items[0].StoryID
		if _, err := store.AddFeeds(t.Context(), storage.Feed{ID: i.FeedID, URL: "http://" + i.FeedID + ".example/"}); err != nil {
			t.Fatal(err)
		}
		if err := k.Receive(t.Context(), placed); err != nil {
			t.Fatal(err)
		}
	}
	if stories["b"] != stories["d"] || stories["b"] != stories["e"] || stories["a"] == stories["b"] || stories["c"] == stories["b"] || stories["a"] == stories["c"] || stories["a"] != stories["g"] {
		t.Errorf("got stories %v, want b, d and e in one, a and g in one, and c by itself", stories)
	}
	next := clustererOf(t, store, &worktest.Outbox{})
	late := item("f", 3*time.Hour)
	if got := place(t, next, worktest.ClusterTask("f", 9, late)).Items[0].StoryID; got != stories["b"] {
		t.Errorf("after a takeover: got story %s, want %s", got, stories["b"])
	}
	if items, events, _ := next.stories.Len(); items != 4 || events != 1 {
		t.Errorf("got %d items of %d events in memory, want those of today's story", items, events)
	}
}

// All items of a document have one first-seen time, and documents arrive in another order than their fetches,
// so items are loaded in another order than they were placed. Here an item shares either its address or its
// text with others, and a feed has no address twice; see near.Exact on other cases.
func TestTakeOver_PlacesLikeItsPredecessor(t *testing.T) {
	feeds := []string{"a", "b", "c", "d"}
	store := enginetest.Store(t)
	seeds := uint64(200)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		var added []storage.Feed
		for _, id := range feeds {
			if _, err := store.RemoveFeed(t.Context(), id); err != nil && seed > 0 {
				t.Fatal(err)
			}
			added = append(added, storage.Feed{ID: id, URL: "http://" + id + ".example/"})
		}
		if _, err := store.AddFeeds(t.Context(), added...); err != nil {
			t.Fatal(err)
		}
		before := clustererOf(t, store, &worktest.Outbox{})
		k := storerOf(store, &worktest.Outbox{})
		used := map[string]bool{} // pages, by feed
		random := func(i int) subjects.Cluster {
			feedID := feeds[r.IntN(len(feeds))]
			var items []storage.Item
			for j := range 1 + r.IntN(3) {
				own := fmt.Sprint(i, "-", j)
				page, text := "p"+own, fmt.Sprint("t", r.IntN(5))
				if shared := fmt.Sprint("p", r.IntN(8)); r.IntN(2) == 0 && !used[feedID+shared] {
					page, text = shared, "t"+own
					used[feedID+shared] = true
				}
				item := worktest.Item(feedID, own, page, text)
				item.FirstSeen = worktest.Noon.Add(time.Duration(r.IntN(2)) * time.Second)
				items = append(items, item)
			}
			return worktest.ClusterTask(feedID, i, items...)
		}
		for i := range 8 {
			if err := k.Receive(t.Context(), place(t, before, random(i))); err != nil {
				t.Fatal(err)
			}
		}
		after := clustererOf(t, store, &worktest.Outbox{})
		for i := range 4 {
			task := random(100 + i)
			want, got := place(t, before, task), place(t, after, task)
			for j := range want.Items {
				if got.Items[j].DuplicateOf != want.Items[j].DuplicateOf || got.Items[j].EventID != want.Items[j].EventID {
					t.Fatalf("seed %d: item %s of feed %s: got duplicate of %q by %q, want of %q by %q", seed, got.Items[j].Key, got.FeedID,
						got.Items[j].DuplicateOf, got.Items[j].DuplicateBy, want.Items[j].DuplicateOf, want.Items[j].DuplicateBy)
				}
			}
		}
	}
}

func TestTakeOver_LoadsManyPages(t *testing.T) {
	store := worktest.StoreWith(t, worktest.Blog)
	id := storage.FeedID(worktest.Blog)
	batch := storage.Batch{FeedID: id}
	for i := range 2500 {
		item := worktest.Item(id, fmt.Sprint(i), fmt.Sprint("p", i), fmt.Sprint("t", i))
		item.FirstSeen = worktest.Noon.Add(-time.Duration(i%7) * time.Hour)
		if i%100 == 99 {
			item.FirstSeen = worktest.Noon.Add(-73 * time.Hour) // outside the window
		}
		batch.Items = append(batch.Items, item)
	}
	batch.Items[0].Partition = "ru"
	if _, err := store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if got := clustererOf(t, store, &worktest.Outbox{}).near.Len(); got != 2500-25-1 {
		t.Errorf("got %d items loaded, want the partition's items of the last three days: %d", got, 2500-25-1)
	}
}

// A store task of a replaced clusterer is not stored: its successor places the items again, and they are
// stored once.
func TestTakeOver_FencesOffItsPredecessor(t *testing.T) {
	store := worktest.StoreWith(t, "http://a.example/", worktest.Blog)
	a, b := storage.FeedID("http://a.example/"), storage.FeedID(worktest.Blog)
	old := clustererOf(t, store, &worktest.Outbox{})
	out := &worktest.Outbox{}
	k := storerOf(store, out)
	repeats := worktest.ClusterTask(b, 1, worktest.Item(b, "1", "x", "same"))
	stale := place(t, old, repeats) // not a duplicate in the old clusterer's memory

	heir := clustererOf(t, store, &worktest.Outbox{})
	first := place(t, heir, worktest.ClusterTask(a, 1, worktest.Item(a, "1", "y", "same")))
	if err := k.Receive(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	worktest.Sent(t, out, subjects.IndexQueue)
	worktest.Sent(t, out, subjects.ObserveQueue)

	if err := k.Receive(t.Context(), stale); err != nil {
		t.Fatal(err)
	}
	again := worktest.Only(t, out, subjects.ClusterQueue)
	if again.RejectedFence != 1 || again.Partition != "en" || again.Receipt != repeats.Receipt || again.ID() == repeats.ID() {
		t.Errorf("got %+v, want the document again, with a new task ID", again)
	}
	fresh := place(t, heir, again)
	if fresh.Items[0].DuplicateOf != first.Items[0].ID || fresh.Fence.Number != 2 || fresh.ID() == stale.ID() {
		t.Errorf("got %+v, want a new placement with the newer fence and a new task ID", fresh)
	}
	for range 2 { // a repetition is harmless
		if err := k.Receive(t.Context(), fresh); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := storage.ItemByID(t.Context(), store, fresh.Items[0].ID); err != nil || got.Revision != 1 || got.DuplicateOf != first.Items[0].ID {
		t.Errorf("got %+v, %v in the store, want the item once, as placed by the successor", got, err)
	}
	if err := k.Receive(t.Context(), stale); err != nil || len(worktest.Sent(t, out, subjects.ClusterQueue)) != 1 {
		t.Errorf("got %v for a repeated stale task, want it returned to cluster again", err)
	}
}
