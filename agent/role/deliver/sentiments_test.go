package deliver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
)

// enterScored stores n items with a sentiment, each a story, as members of view 1 that entered some time ago.
func (f *fixture) enterScored(prefix string, n int, sentiment float64, ago time.Duration) (ids []string) {
	f.Helper()
	var items []storage.Item
	var members []storage.Member
	at := f.env.Clock.Now().Add(-ago)
	for i := range n {
		key := fmt.Sprint(prefix, i)
		item := worktest.Item(storage.FeedID(feedURL), key, key, "text "+key)
		item.Published, item.FirstSeen, item.Sentiment = at, at, sentiment
		if sentiment != 0 {
			item.Sentiment += float64(i%5-2) / 100
		}
		items, ids = append(items, item), append(ids, item.ID)
		members = append(members, storage.Member{View: 1, ItemID: item.ID, Entered: at, Published: at})
	}
	if _, err := f.store.PutItems(f.Context(), storage.Batch{FeedID: storage.FeedID(feedURL), Items: items}); err != nil {
		f.Fatal(err)
	}
	if err := f.store.ChangeMembers(f.Context(), storage.Fence{}, members, nil); err != nil {
		f.Fatal(err)
	}
	return ids
}

func TestAlert_SentimentFalls(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, 600), newReceiver(t, nil) // ten minutes a second
	f.enterScored("good", 40, 0.4, 30*time.Hour)
	f.alertOn("sentiment falls by 0.3 in 24h", r.URL)
	ids := f.enterScored("bad", 35, -0.2, time.Hour)
	end := f.run()
	defer end()
	got := r.alerts(t, 1)[0]
	if got.Data.Text != "sentiment fell from 0.40 to -0.20 in 1d" || len(got.Data.Items) != maxAlertItems || got.Data.More != 35-maxAlertItems || slices.Index(ids, got.ids()[0])%5 != 0 {
		t.Errorf("got %+v, want an item with the lowest sentiment first, every fifth of %v", got, ids)
	}
	sent := f.state("a", "alerted", func(d storage.DeliveryState) bool { return len(d.Alerted) == 1 && d.Problem == "" })
	f.state("a", "evaluated again", func(d storage.DeliveryState) bool { return d.Due.After(sent.Due.Add(20 * time.Minute)) })
	if all := r.alerts(t, 1); len(all) != 1 {
		t.Errorf("got %d alerts of one fall", len(all))
	}
}

// A condition that can't hold has a problem, which ends when it can.
func TestAlert_SentimentThatCantFall(t *testing.T) {
	t.Parallel()
	problem := func(enter func(f *fixture)) func(want string) *fixture {
		return func(want string) *fixture {
			t.Helper()
			f := newFixture(t, 600)
			f.alertOn("sentiment falls by 0.3 in 1h", newReceiver(t, nil).URL)
			enter(f)
			t.Cleanup(f.run())
			f.state("a", "evaluated with the problem "+want, func(d storage.DeliveryState) bool { return strings.Contains(d.Problem, want) && !d.Due.IsZero() })
			return f
		}
	}
	f := problem(func(f *fixture) { f.enterScored("unscored", 3, 0, 0) })("none of the 3 items")
	f.enterScored("scored", 3, 0.5, 0)
	f.state("a", "evaluated for less than two hours", func(d storage.DeliveryState) bool { return d.Problem == "" })
	problem(func(f *fixture) { f.enterScored("few", 10, 0.5, 0) })("too few")
}

// Items of a story are one observation, items in several views are read once, and unlimited items are not read.
func TestReadSentiments(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	now := f.env.Clock.Now()
	ids := f.enterScored("x", 2500, 0.5, 90*time.Minute)
	f.enterScored("y", 3, -0.5, time.Minute)
	if err := f.store.ChangeMembers(t.Context(), storage.Fence{}, []storage.Member{{View: 2, ItemID: ids[0], Entered: now.Add(-90 * time.Minute), Published: now}}, nil); err != nil {
		t.Fatal(err)
	}
	f.enterStory("one", "e1", "s", "a.example") // without a sentiment
	r := &run{deliverer: &deliverer{store: f.store}, Subscription: storage.Subscription{Views: []int64{1, 2}}}
	before, after := period{from: now.Add(-2 * time.Hour), to: now.Add(-time.Hour)}, period{from: now.Add(-time.Hour), to: now.Add(time.Hour)}
	isWhole, err := r.readSentiments(t.Context(), &before, &after)
	if err != nil || !isWhole || before.entered != 2500 || len(before.scored) != 2500 || after.entered != 4 || len(after.scored) != 3 {
		t.Errorf("got %d and %d of %d and %d, %v, %v", len(before.scored), len(after.scored), before.entered, after.entered, isWhole, err)
	}
	p := period{scored: []storage.ScoredMember{{ItemID: "a", StoryID: "s", Sentiment: 1}, {ItemID: "b", StoryID: "s", Sentiment: 0.5}, {ItemID: "c", Sentiment: -0.5}, {ItemID: "d", Sentiment: -0.5}}}
	values := p.values()
	slices.Sort(values)
	if !slices.Equal(values, []float64{-0.5, -0.5, 0.75}) {
		t.Errorf("got values %v", values)
	}
}
