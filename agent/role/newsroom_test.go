package role

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/memory"
	"feedmesh/subjects"
)

// A newsroom places what publishers publish, stores it, and tells of it.
type newsroom struct {
	t       *testing.T
	store   *memory.Store
	out     *outbox
	now     time.Time
	cluster *clusterer
	keeper  *keeper
	teller  *teller
}

func newNewsroom(t *testing.T) *newsroom {
	n := &newsroom{t: t, store: &memory.Store{}, out: &outbox{}, now: noon}
	n.takeOver()
	n.keeper = &keeper{items: n.store, out: n.out, metrics: metrics()}
	return n
}

func (n *newsroom) clock() time.Time { return n.now }

// takeOver has others do what has one active actor.
func (n *newsroom) takeOver() {
	n.t.Helper()
	n.cluster = clustererOf(n.t, n.store, n.out)
	n.cluster.clock = n.clock
	fence, err := n.store.NextFence(n.t.Context(), "stories")
	if err != nil {
		n.t.Fatal(err)
	}
	n.teller = &teller{store: n.store, out: n.out, clock: n.clock, log: slog.New(slog.DiscardHandler), fence: fence, bursts: newBursts(n.store, n.out)}
	n.teller.bursts.fence = fence
}

// publish has a publisher publish items, by their titles, and returns them as they
// are stored.
func (n *newsroom) publish(host string, titles ...string) []storage.Item {
	n.t.Helper()
	var items []storage.Item
	for _, title := range titles {
		items = append(items, storage.Item{Key: title, Title: title, URL: "https://" + host + "/" + strings.ReplaceAll(title, " ", "-")})
	}
	return n.put(host, items...)
}

// put has a publisher publish items, of which some fields are set.
func (n *newsroom) put(host string, items ...storage.Item) []storage.Item {
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
		i.ID, i.FeedID, i.Lane, i.Language = storage.ItemID(id, i.Key), id, "en", "en"
		i.Hash, i.Published, i.FirstSeen = "h"+i.Key+i.Title, n.now, n.now
		ids[k] = i.ID
	}
	if err := n.cluster.Receive(n.t.Context(), clusterTask(id, int(n.now.Unix()), items...)); err != nil {
		n.t.Fatal(err)
	}
	for _, task := range sent(n.t, n.out, subjects.Stores) {
		if err := n.keeper.Receive(n.t.Context(), task); err != nil {
			n.t.Fatal(err)
		}
	}
	return n.items(ids...)
}

func (n *newsroom) items(ids ...string) []storage.Item {
	n.t.Helper()
	items, err := n.store.Items(n.t.Context(), ids...)
	if err != nil || len(items) != len(ids) {
		n.t.Fatalf("got %d items of %d (%v)", len(items), len(ids), err)
	}
	return items
}

// later lets time pass, and stories be looked at.
func (n *newsroom) later(d time.Duration) {
	n.t.Helper()
	n.now = n.now.Add(d)
	if err := n.cluster.tick(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
}

// decide has a person decide something.
func (n *newsroom) decide(do subjects.Doing, a, b string) {
	n.t.Helper()
	hand := subjects.Hand{ID: fmt.Sprint(do, a, b), Do: do, A: a, B: b}
	for range 2 { // twice is harmless
		if err := n.cluster.Receive(n.t.Context(), subjects.Cluster{Lane: "en", Hand: &hand}); err != nil {
			n.t.Fatal(err)
		}
	}
}

// tell has the teller tell, and returns the events that were heard.
func (n *newsroom) tell() (heard []subjects.Event) {
	n.t.Helper()
	n.out.messages = nil
	if err := n.teller.tellAll(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	return n.heard()
}

// heard returns the events that were heard since the last time.
func (n *newsroom) heard() (events []subjects.Event) {
	n.t.Helper()
	for _, m := range n.out.messages {
		if !strings.HasPrefix(m.Subject, "events.") {
			continue
		}
		var e subjects.Event
		if err := json.Unmarshal(m.Data, &e); err != nil {
			n.t.Fatal(err)
		}
		events = append(events, e)
	}
	n.out.messages = nil
	return events
}

// told returns what is told of the story of an item.
func (n *newsroom) told(i storage.Item) storage.Story {
	n.t.Helper()
	s, err := n.store.Story(n.t.Context(), n.items(i.ID)[0].StoryID)
	if err != nil {
		n.t.Fatal(err)
	}
	return s
}

// together reports whether items belong to one story.
func (n *newsroom) together(items ...storage.Item) bool {
	n.t.Helper()
	var stories []string
	for _, i := range items {
		stories = append(stories, n.items(i.ID)[0].StoryID)
	}
	return len(slices.Compact(stories)) == 1
}

// three publishers tell of one quake, in words of their own.
func (n *newsroom) quake() []storage.Item {
	n.t.Helper()
	return slices.Concat(
		n.publish("one.example", "Strong earthquake hits Chile coast near Iquique"),
		n.publish("two.example", "Chile earthquake: strong quake strikes off Iquique coast"),
		n.publish("three.example", "Tsunami warning after strong Chile earthquake near Iquique"))
}
