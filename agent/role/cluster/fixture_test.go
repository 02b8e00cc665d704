package cluster

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// A pipelineFixture places and stores published items, and summarizes their stories.
type pipelineFixture struct {
	t          *testing.T
	store      storage.Store
	out        *worktest.Outbox
	now        time.Time
	cluster    *clusterer
	storer     mesh.Actor[subjects.Store]
	summarizer *storySummarizer
}

func newPipelineFixture(t *testing.T) *pipelineFixture {
	n := &pipelineFixture{t: t, store: enginetest.Store(t), out: &worktest.Outbox{}, now: worktest.Noon}
	n.takeOver()
	n.storer = storerOf(n.store, n.out)
	return n
}

func (n *pipelineFixture) clock() time.Time { return n.now }

// takeOver replaces the active actors by new ones.
func (n *pipelineFixture) takeOver() {
	n.t.Helper()
	n.cluster = clustererOf(n.t, n.store, n.out)
	n.cluster.clock = n.clock
	fence, err := n.store.NextFence(n.t.Context(), "stories")
	if err != nil {
		n.t.Fatal(err)
	}
	n.summarizer = &storySummarizer{store: n.store, out: n.out, clock: n.clock, log: slog.New(slog.DiscardHandler), fence: fence, bursts: newBursts(n.store, n.out)}
	n.summarizer.bursts.fence = fence
}

// publish publishes items by their titles and returns them as stored.
func (n *pipelineFixture) publish(host string, titles ...string) []storage.Item {
	n.t.Helper()
	var items []storage.Item
	for _, title := range titles {
		items = append(items, storage.Item{Key: title, Title: title, URL: "https://" + host + "/" + strings.ReplaceAll(title, " ", "-")})
	}
	return n.put(host, items...)
}

// put publishes items with some fields set.
func (n *pipelineFixture) put(host string, items ...storage.Item) []storage.Item {
	n.t.Helper()
	n.now = n.now.Add(time.Minute)
	url := "https://" + host + "/feed"
	id := storage.FeedID(url)
	if _, err := n.store.AddFeeds(n.t.Context(), storage.Feed{ID: id, URL: url, Title: host}); err != nil {
		n.t.Fatal(err)
	}
	ids := make([]string, len(items))
	for k := range items {
		i := &items[k]
		i.ID, i.FeedID, i.Partition, i.Language = storage.ItemID(id, i.Key), id, "en", "en"
		i.Hash, i.Published, i.FirstSeen = "h"+i.Key+i.Title, n.now, n.now
		ids[k] = i.ID
	}
	if err := n.cluster.Receive(n.t.Context(), worktest.ClusterTask(id, int(n.now.Unix()), items...)); err != nil {
		n.t.Fatal(err)
	}
	for _, task := range worktest.Sent(n.t, n.out, subjects.StoreQueue) {
		if err := n.storer.Receive(n.t.Context(), task); err != nil {
			n.t.Fatal(err)
		}
	}
	return n.items(ids...)
}

func (n *pipelineFixture) items(ids ...string) []storage.Item {
	n.t.Helper()
	items, err := n.store.Items(n.t.Context(), ids...)
	if err != nil || len(items) != len(ids) {
		n.t.Fatalf("got %d items of %d (%v)", len(items), len(ids), err)
	}
	return items
}

// advance advances the clock and maintains the stories.
func (n *pipelineFixture) advance(d time.Duration) {
	n.t.Helper()
	n.now = n.now.Add(d)
	if err := n.cluster.tick(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
}

// edit applies a manual edit.
func (n *pipelineFixture) edit(do subjects.EditKind, a, b string) {
	n.t.Helper()
	edit := subjects.Override{ID: fmt.Sprint(do, a, b), Kind: do, A: a, B: b}
	for range 2 { // a repetition is harmless
		if err := n.cluster.Receive(n.t.Context(), subjects.Cluster{Partition: "en", Override: &edit}); err != nil {
			n.t.Fatal(err)
		}
	}
}

// summarize summarizes dirty stories and returns the published events.
func (n *pipelineFixture) summarize() (events []subjects.Event) {
	n.t.Helper()
	n.out.Messages = nil
	if _, err := n.summarizer.summarizeAll(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	return n.events()
}

// events returns the events published since the last call.
func (n *pipelineFixture) events() (events []subjects.Event) {
	n.t.Helper()
	for _, m := range n.out.Messages {
		if !strings.HasPrefix(m.Subject, "events.") {
			continue
		}
		var e subjects.Event
		if err := json.Unmarshal(m.Data, &e); err != nil {
			n.t.Fatal(err)
		}
		events = append(events, e)
	}
	n.out.Messages = nil
	return events
}

// story returns the summary of an item's story.
func (n *pipelineFixture) story(i storage.Item) storage.Story {
	n.t.Helper()
	s, err := storage.StoryByID(n.t.Context(), n.store, n.items(i.ID)[0].StoryID)
	if err != nil {
		n.t.Fatal(err)
	}
	return s
}

// sameStory reports whether items belong to one story.
func (n *pipelineFixture) sameStory(items ...storage.Item) bool {
	n.t.Helper()
	var stories []string
	for _, i := range items {
		stories = append(stories, n.items(i.ID)[0].StoryID)
	}
	return len(slices.Compact(stories)) == 1
}

// quake publishes three items about one earthquake, each from another publisher in different words.
func (n *pipelineFixture) quake() []storage.Item {
	n.t.Helper()
	return slices.Concat(
		n.publish("one.example", "Strong earthquake hits Chile coast near Iquique"),
		n.publish("two.example", "Chile earthquake: strong quake strikes off Iquique coast"),
		n.publish("three.example", "Tsunami warning after strong Chile earthquake near Iquique"))
}
