package members

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/metric"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/classify/query"
	"feedmesh/classify/text"
	"feedmesh/classify/view"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// feeds are the addresses of the feeds of tests. The first two have the tag news.
var feeds = []string{"https://a.example/feed", "https://b.example/feed", "https://c.example/feed"}

// A bench is an evaluator with real engines, whose items and views a test changes.
type bench struct {
	testing.TB
	*evaluator
	now time.Time
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{TB: t, now: worktest.Noon}
	store := worktest.StoreWith(t, feeds...)
	for _, url := range feeds[:2] {
		if _, err := store.SetFeed(t.Context(), storage.FeedID(url), storage.Settings{Tags: []string{"news"}}); err != nil {
			t.Fatal(err)
		}
	}
	b.evaluator = &evaluator{
		store: store, index: enginetest.Index(t), clock: work.Clock(func() time.Time { return b.now }), log: slog.New(slog.DiscardHandler),
		depths: func(context.Context) ([]subjects.Depth, error) { return nil, nil },
		schema: func(context.Context) int { return subjects.Schema }, out: &worktest.Outbox{},
		entered: metric.Counter(prometheus.NewRegistry(), "entered", ""), lag: metric.Seconds(prometheus.NewRegistry(), "lag", ""),
		left: metric.Gauges(prometheus.NewRegistry(), "left", ""),
	}
	if err := b.takeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// define stores views, given by their definitions without "view", and loads them.
func (b *bench) define(definitions ...string) {
	b.Helper()
	for _, d := range definitions {
		name, _, _ := strings.Cut(d, " ")
		err := storage.Views(b.store).Change(b.Context(), name, func(stored *storage.View) (*storage.View, error) {
			next := storage.View{Name: name, Number: rand.Int64(), Definition: "view " + d, Changed: b.now}
			if stored != nil {
				next.Number, next.Changed, next.Filled = stored.Number, stored.Changed.Add(time.Second), stored.Filled
			}
			return &next, nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.reloadAll()
}

func (b *bench) reloadAll() {
	b.Helper()
	if err := b.reload(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// put stores an item of a feed.
func (b *bench) put(feed int, key, words string, change func(*storage.Item)) string {
	b.Helper()
	item := worktest.Item(storage.FeedID(feeds[feed]), key, "", "")
	item.Title, item.HTML, item.Published, item.FirstSeen = "Title", "<p>"+words+"</p>", b.now, b.now
	if change != nil {
		change(&item)
	}
	if _, err := b.store.PutItems(b.Context(), storage.Batch{FeedID: item.FeedID, Items: []storage.Item{item}}); err != nil {
		b.Fatal(err)
	}
	return item.ID
}

// receive evaluates items.
func (b *bench) receive(ids ...string) {
	b.Helper()
	if err := b.ReceiveAll(b.Context(), []subjects.View{{Index: subjects.Index{Reason: "test", IDs: ids}}}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) spam(id string, isSpam bool) {
	b.Helper()
	if _, err := b.store.Relabel(b.Context(), "", storage.Labels{ItemID: id, Spam: isSpam}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) place(id, story, original string) {
	b.Helper()
	p := storage.Placement{ItemID: id, EventID: "e" + story, StoryID: story, DuplicateOf: original}
	if _, err := b.store.Rearrange(b.Context(), storage.Rearrangement{Items: []storage.Placement{p}}); err != nil {
		b.Fatal(err)
	}
}

// members returns the present members of a view, the newest first.
func (b *bench) members(name string) []storage.Member {
	b.Helper()
	v, err := storage.Views(b.store).Get(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	members, err := b.store.ListMembers(b.Context(), storage.MemberQuery{View: v.Number}, storage.Member{}, 10_000)
	if err != nil {
		b.Fatal(err)
	}
	return members
}

// want checks the members of a view.
func (b *bench) want(name string, ids ...string) {
	b.Helper()
	var got []string
	for _, m := range b.members(name) {
		got = append(got, m.ItemID)
	}
	slices.Sort(got)
	slices.Sort(ids)
	if !slices.Equal(got, ids) {
		b.Errorf("view %s has %v, want %v", name, got, ids)
	}
}

func TestEvaluator_AnItemEntersOnceAndLeaves(t *testing.T) {
	b := newBench(t)
	b.define("go = from tag:news where go", "fresh = from view:go where -old")
	id, other := b.put(0, "1", "go fresh", nil), b.put(2, "1", "go without the tag", nil)
	b.receive(id, other)
	b.receive(id, other, id)
	b.want("go", id)
	b.want("fresh", id)
	first := b.members("go")[0]
	if first.Past || first.Serial == 0 || !first.Entered.Equal(b.now) {
		t.Errorf("got %+v", first)
	}
	b.spam(id, true)
	b.receive(id)
	b.want("go")
	b.want("fresh")
	b.now = b.now.Add(time.Hour)
	b.spam(id, false)
	b.receive(id)
	if again := b.members("go"); len(again) != 1 || again[0] != first {
		t.Errorf("got %+v after a correction and its undoing, want %+v", again, first)
	}
	old := b.put(0, "2", "go long ago", func(i *storage.Item) { i.Published = b.now.AddDate(0, -1, 0) })
	b.receive(old)
	if m := b.members("go")[1]; m.ItemID != old || !m.Past {
		t.Errorf("got %+v for an item of last month, which is no news", m)
	}
	if _, err := b.store.PurgeItems(t.Context(), storage.Fence{}, id); err != nil {
		t.Fatal(err)
	}
	b.receive(id)
	if left, err := b.store.MembersOfItems(t.Context(), id); err != nil || len(left) != 0 {
		t.Errorf("got %+v, %v of a deleted item", left, err)
	}
}

func TestEvaluator_OncePerStory(t *testing.T) {
	b := newBench(t)
	b.define("stories = from all where -hidden once story")
	of := func(story string) func(*storage.Item) { return func(i *storage.Item) { i.StoryID = story } }
	first, second, alone := b.put(0, "1", "one", of("s")), b.put(1, "1", "two", of("s")), b.put(2, "1", "three", nil)
	b.receive(first)
	b.receive(second, alone)
	b.want("stories", first, alone)
	b.spam(first, true)
	b.receive(first)
	b.want("stories", second, alone)
	b.spam(first, false)
	b.receive(first)
	b.want("stories", first, alone)
	b.place(alone, "s", "")
	b.receive(alone)
	b.want("stories", first)
	b.place(second, "t", "")
	b.receive(second)
	b.want("stories", first, second)
}

func TestEvaluator_OncePerDuplicateReadsDuplicatesOfOtherFeeds(t *testing.T) {
	b := newBench(t)
	b.define("own = from tag:news once duplicate", "all = from tag:news")
	original := b.put(2, "1", "go", nil)
	duplicate := func(i *storage.Item) { i.DuplicateOf = original }
	first, second := b.put(0, "1", "go", duplicate), b.put(1, "1", "go", duplicate)
	b.receive(original, first)
	b.receive(second)
	b.want("own", first)
	b.want("all")
	b.place(first, "", "")
	b.receive(first)
	b.want("own", first, second)
	b.want("all", first)
}

func TestEvaluator_JoinsByStoryInAnyOrder(t *testing.T) {
	b := newBench(t)
	b.define("a = from feed:"+storage.FeedID(feeds[0])+" join view:b within 24h", "b = from feed:"+storage.FeedID(feeds[1])+" where go")
	of := func(at time.Time) func(*storage.Item) {
		return func(i *storage.Item) { i.StoryID, i.Published = "s", at }
	}
	item := b.put(0, "1", "release", of(b.now))
	b.receive(item)
	b.want("a")
	b.receive(b.put(1, "old", "go", of(b.now.Add(-25*time.Hour))))
	b.want("a")
	other := b.put(1, "1", "go", of(b.now.Add(-time.Hour)))
	b.receive(other)
	b.want("a", item)
	b.spam(other, true)
	b.receive(other)
	b.want("a")
}

func TestEvaluator_WindowAndUnique(t *testing.T) {
	b := newBench(t)
	b.define("day = from all window 24h", "unique = from all unique 50%")
	words := "one two three four five six seven eight nine ten"
	a, c := b.put(0, "1", words, nil), b.put(1, "1", words+" more", nil)
	old := b.put(0, "2", "another text altogether of yesterday", func(i *storage.Item) { i.Published = b.now.Add(-25 * time.Hour) })
	b.receive(a)
	b.receive(c, old)
	b.want("day", a, c)
	b.want("unique", a, old)
	b.receive(a, c, old)
	b.want("unique", a, old)
	b.now = b.now.Add(25 * time.Hour)
	if err := b.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.want("day")
	b.want("unique", a, old)
}

func TestEvaluator_FillsNewAndChangedViews(t *testing.T) {
	b := newBench(t)
	var want []string
	var indexed []storage.IndexItem
	for i := range 250 {
		id := b.put(i%3, fmt.Sprint(i), []string{"go", "rust"}[i/2%2], func(item *storage.Item) { item.FirstSeen = b.now.Add(-time.Hour) })
		items, err := b.store.Items(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		indexed = append(indexed, storage.IndexItem{Item: items[0], Text: text.PlainText(items[0].HTML)})
		if i%3 < 2 && i/2%2 == 0 {
			want = append(want, id)
		}
	}
	if err := b.index.Put(t.Context(), indexed...); err != nil {
		t.Fatal(err)
	}
	recent := worktest.Item(storage.FeedID(feeds[0]), "recent", "", "") // not in the index yet
	recent.HTML, recent.Published, recent.FirstSeen = "go", b.now, b.now
	if _, err := b.store.PutItems(t.Context(), storage.Batch{FeedID: recent.FeedID, Items: []storage.Item{recent}}); err != nil {
		t.Fatal(err)
	}
	fill := func() {
		t.Helper()
		if err := b.round(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := storage.Views(b.store).List(t.Context())
		if err != nil || !all[0].IsFilled() {
			t.Fatalf("got %+v, %v", all, err)
		}
	}
	b.define("go = from tag:news where go", "read = from view:go")
	fill()
	want = append(want, recent.ID)
	b.want("go", want...)
	b.want("read", want...)
	for _, m := range b.members("go") {
		if !m.Past {
			t.Errorf("an item of the past is news: %+v", m)
		}
	}
	b.define("go = from tag:news where rust")
	fill()
	for _, m := range b.members("read") {
		if slices.Contains(want, m.ItemID) {
			t.Errorf("%s is still a member", m.ItemID)
		}
	}
	if n := len(b.members("read")); n < 80 || n > 90 {
		t.Errorf("got %d members", n)
	}
	b.depths = func(context.Context) ([]subjects.Depth, error) {
		return []subjects.Depth{{Queue: subjects.IndexQueue.Name, Oldest: 3600}}, nil
	}
	b.define("late = from all")
	if err := b.round(t.Context()); err == nil || !strings.Contains(err.Error(), "late") {
		t.Errorf("got %v for an index that is behind", err)
	}
	if err := storage.Views(b.store).Remove(t.Context(), "read"); err != nil {
		t.Fatal(err)
	}
	b.reloadAll()
	if err := b.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := b.store.ViewsWithMembers(t.Context()); err != nil || len(left) != 1 {
		t.Errorf("got %v, %v: members of a removed view are left", left, err)
	}
}

func TestEvaluator_FillsViewsOfChangedTagsAgain(t *testing.T) {
	b := newBench(t)
	b.define("news = from tag:news", "work = from tag:work", "all = from all")
	id := b.put(0, "1", "go", nil)
	b.receive(id)
	round := func() {
		t.Helper()
		if err := b.round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if _, err := b.store.SetFeed(t.Context(), storage.FeedID(feeds[0]), storage.Settings{Tags: []string{"work"}}); err != nil {
		t.Fatal(err)
	}
	if err := b.ReceiveAll(t.Context(), []subjects.View{{Tags: []string{"news", "work"}}}); err != nil {
		t.Fatal(err)
	}
	all, err := storage.Views(b.store).List(t.Context())
	if err != nil || all[0].Name != "all" || !all[0].IsFilled() || all[1].IsFilled() || all[2].IsFilled() {
		t.Errorf("got %+v, %v; want the views of both tags to be filled in again", all, err)
	}
	round()
	b.want("news")
	b.want("work", id)
	if m := b.members("work")[0]; !m.Past {
		t.Error("an old item of a feed with a new tag is news")
	}
}

func TestEvaluator_HealsLostTasksAndMembers(t *testing.T) {
	b := newBench(t)
	stream := b.now
	b.depths = func(context.Context) ([]subjects.Depth, error) {
		return []subjects.Depth{{Queue: subjects.ViewQueue.Name, Created: stream}}, nil
	}
	b.define("all = from all")
	round := func() {
		t.Helper()
		b.healed = time.Time{}
		if err := b.round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	first := b.put(0, "1", "go", nil) // its task is lost with the stream
	round()
	b.want("all")
	stream = stream.Add(time.Minute)
	round()
	b.want("all", first)
	if b.members("all")[0].Past {
		t.Error("an item whose task was lost is no news")
	}
	b.schema = func(context.Context) int { return viewSchema - 1 }
	second := b.put(0, "2", "go", nil) // stored by an agent that publishes no task
	round()
	b.now = b.now.Add(time.Hour)
	round()
	b.want("all", first)
	b.schema = func(context.Context) int { return viewSchema }
	round()
	b.want("all", first, second)
	v, err := storage.Views(b.store).Get(t.Context(), "all")
	if err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(-time.Hour)
	// The store goes back: the progress is older than that which was stored last.
	older, err := storage.Notes(b.store).Read(t.Context(), progressNote)
	if err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(time.Minute)
	round()
	if _, err := b.store.RemoveMembers(t.Context(), storage.Fence{}, v.Number, time.Time{}, 10); err != nil {
		t.Fatal(err)
	}
	round()
	b.want("all")
	if err := storage.Notes(b.store).Put(t.Context(), storage.Fence{}, progressNote, older); err != nil {
		t.Fatal(err)
	}
	round()
	b.want("all", first, second)
}

func TestEvaluator_LeavesOutUnreadableViews(t *testing.T) {
	b := newBench(t)
	b.define("good = from all", "bad = from view:missing", "worse = from nowhere", "reads-bad = from view:bad", "x = from view:y", "y = from view:x")
	b.receive(b.put(0, "1", "go", nil))
	if n := len(b.members("good")); n != 1 || len(b.views.problems) != 5 {
		t.Errorf("got %d members and problems %v", n, b.views.problems)
	}
}

func TestEvaluator_OldFenceStepsDown(t *testing.T) {
	b := newBench(t)
	b.define("all = from all")
	if _, err := b.store.NextFence(t.Context(), "views"); err != nil {
		t.Fatal(err)
	}
	id := b.put(0, "1", "go", nil)
	err := b.ReceiveAll(t.Context(), []subjects.View{{Index: subjects.Index{IDs: []string{id}}}})
	if err == nil || len(b.members("all")) != 0 {
		t.Errorf("got %v from a holder that was replaced", err)
	}
}

// The members of random views after random changes are those that follow from the items, and from the members of the views
// that they read.
func TestEvaluator_MembersFollowFromItems(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for seed := range uint64(rounds) {
		g := rand.New(rand.NewPCG(seed, 7))
		b := newBench(t)
		definitions := randomViews(g, 8)
		b.define(definitions...)
		var ids []string
		for step := range 60 {
			id := ""
			switch n := g.IntN(10); {
			case n < 4 || len(ids) < 5:
				id = b.put(g.IntN(3), fmt.Sprint(step), []string{"go", "rust", "go rust"}[g.IntN(3)], func(i *storage.Item) {
					i.StoryID, i.Published = []string{"", "s", "t"}[g.IntN(3)], b.now.Add(-time.Duration(g.IntN(60))*time.Hour)
				})
				ids = append(ids, id)
			case n < 6:
				id = ids[g.IntN(len(ids))]
				b.spam(id, g.IntN(2) == 0)
			case n < 9:
				id = ids[g.IntN(len(ids))]
				original := ids[g.IntN(len(ids))]
				if g.IntN(2) == 0 || original == id {
					original = ""
				}
				b.place(id, []string{"", "s", "t"}[g.IntN(3)], original)
			default:
				id = ids[g.IntN(len(ids))]
				if _, err := b.store.PurgeItems(t.Context(), storage.Fence{}, id); err != nil {
					t.Fatal(err)
				}
			}
			if seed%2 == 0 || g.IntN(10) > 0 { // otherwise the task is late
				b.receive(id)
			}
		}
		if seed%2 == 1 {
			b.receive(ids...)
		}
		b.check(seed, definitions, ids)
	}
}

// randomViews returns views that read each other.
func randomViews(g *rand.Rand, n int) (definitions []string) {
	for i := range n {
		d := fmt.Sprintf("v%d = from ", i)
		if i == 0 || g.IntN(3) == 0 {
			d += []string{"all", "tag:news", "feed:" + storage.FeedID(feeds[2])}[g.IntN(3)]
		} else {
			d += fmt.Sprintf("view:v%d", g.IntN(i))
			if g.IntN(2) == 0 {
				d += ", feed:" + storage.FeedID(feeds[g.IntN(3)])
			}
		}
		if i > 0 && g.IntN(3) == 0 {
			d += fmt.Sprintf(" join view:v%d", g.IntN(i))
			if g.IntN(2) == 0 {
				d += " within 24h"
			}
		}
		d += []string{"", " where go", " where rust OR is:spam", " where -go"}[g.IntN(4)]
		definitions = append(definitions, d+[]string{"", "", " once story", " once duplicate"}[g.IntN(4)])
	}
	return definitions
}

// check compares the members of each view with those that the store's items, and the members of other views, imply.
func (b *bench) check(seed uint64, definitions, ids []string) {
	b.Helper()
	items, err := b.store.Items(b.Context(), ids...)
	if err != nil {
		b.Fatal(err)
	}
	present := map[string]map[string]storage.Item{}
	for _, d := range definitions {
		v, err := view.Parse("view " + d)
		if err != nil {
			b.Fatal(err)
		}
		candidates := b.candidates(v, items, present)
		members := map[string]storage.Item{}
		for _, m := range b.members(v.Name) {
			item, is := candidates[m.ItemID]
			if !is {
				b.Errorf("seed %d: %s has %s, which does not meet its conditions", seed, d, m.ItemID)
			}
			members[m.ItemID] = item
		}
		taken := map[string]int{}
		for id := range members {
			taken[groupName(v, candidates[id])]++
		}
		for id, item := range candidates {
			if n := taken[groupName(v, item)]; n != 1 {
				b.Errorf("seed %d: %s has %d members of the group of %s (story %q, original %q), want 1", seed, d, n, id, item.StoryID, item.DuplicateOf)
			}
		}
		present[v.Name] = members
	}
}

// candidates returns the items that meet the conditions of a view, by ID.
func (b *bench) candidates(v view.View, items []storage.Item, present map[string]map[string]storage.Item) map[string]storage.Item {
	where, err := v.Condition(b.now)
	if err != nil {
		b.Fatal(err)
	}
	found := map[string]storage.Item{}
	for _, item := range items {
		isRead := len(v.From) == 0
		for _, s := range v.From {
			switch s.Kind {
			case view.Feed:
				isRead = isRead || item.FeedID == s.Value
			case view.Tag:
				isRead = isRead || item.FeedID != storage.FeedID(feeds[2])
			case view.Other:
				_, is := present[s.Value][item.ID]
				isRead = isRead || is
			}
		}
		isVisible := !item.Spam || query.SelectsValue(where, query.Flag, storage.FlagSpam)
		isVisible = isVisible && (item.DuplicateOf == "" || v.Once != view.PerItem)
		if !isRead || !isVisible || !query.Matches(where, storage.IndexItem{Item: item, Text: text.PlainText(item.HTML)}.Document()) {
			continue
		}
		if v.Join != nil && !isJoined(v.Join, item, present[v.Join.View]) {
			continue
		}
		found[item.ID] = item
	}
	return found
}

func isJoined(j *view.Join, item storage.Item, others map[string]storage.Item) bool {
	for _, other := range others {
		if other.ID == item.ID || item.StoryID != "" && item.StoryID == other.StoryID &&
			(j.Within == 0 || item.Time().Sub(other.Time()).Abs() <= time.Duration(j.Within)) {
			return true
		}
	}
	return false
}

// groupName returns the same name for items of which a view has only one.
func groupName(v view.View, item storage.Item) string {
	switch {
	case v.Once == view.PerStory && item.StoryID != "":
		return "story " + item.StoryID
	case v.Once == view.PerDuplicate && item.DuplicateOf != "":
		return item.DuplicateOf
	}
	return item.ID
}
