package deliver

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/role/deliver/alert"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// addView stores a view.
func (f *fixture) addView(number int64, name, definition string) {
	f.Helper()
	err := storage.Views(f.store).Change(f.Context(), name, func(*storage.View) (*storage.View, error) {
		return &storage.View{Name: name, Number: number, Definition: definition, Changed: f.start}, nil
	})
	if err != nil {
		f.Fatal(err)
	}
}

// put stores states of feeds in the journal.
func (f *fixture) put(states ...*subjects.FeedState) {
	f.Helper()
	for _, s := range states {
		meshtest.PutStates(f, f.env.Mesh, *s)
	}
}

// failing returns the state of a feed that fails since a time.
func failing(url string, since time.Time, problem string) *subjects.FeedState {
	return &subjects.FeedState{FeedID: storage.FeedID(url), State: &subjects.State{
		URL: url, Polled: since, Outcome: subjects.Failed, Failures: 1, FailingSince: since, Error: problem,
	}}
}

// Feeds of the views, also those of views that they read, that begin to fail are in one message for each period, with their names and errors and without
// passwords. Feeds that failed before, that are gone, or are of other views are in none.
func TestAlert_FeedFails(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, 240), newReceiver(t, nil) // four minutes a second
	const tagged, named, hosted, other, gone, former = "https://a.example/feed", "https://b.example/feed", "https://u:p4ss@feeds.c.example/feed?key=s3cret", "https://d.example/feed", "https://e.example/feed", "https://f.example/feed"
	feeds := []storage.Feed{
		{URL: tagged, Title: "Tagged", Tags: []string{"news"}}, {URL: named, Title: "Named"}, {URL: hosted}, {URL: other, Title: "Other"},
		{URL: gone, Title: "Gone", Tags: []string{"news"}}, {URL: former, Title: "Former", Tags: []string{"news"}},
	}
	for i := range feeds {
		feeds[i].ID, feeds[i].Added = storage.FeedID(feeds[i].URL), f.start
	}
	if _, err := f.store.AddFeeds(t.Context(), feeds...); err != nil {
		t.Fatal(err)
	}
	f.addView(1, "top", "view top = from tag:news, view:middle")
	f.addView(2, "middle", "view middle = from view:bottom")
	f.addView(3, "bottom", "view bottom = from host:c.example, feed:"+storage.FeedID(named))
	f.put(failing(former, f.env.Clock.Now().Add(-time.Hour), "the server returned 500"))
	f.alertOn("feed fails", r.URL)
	now := f.env.Clock.Now()
	a, b, e := failing(tagged, now, "the server returned 503 Service Unavailable"), failing(other, now, "timeout"), failing(gone, now, "410")
	e.State.Outcome = subjects.Gone
	f.put(a, b, e)
	end := f.run()
	defer end()

	first := r.alerts(t, 1)[0]
	if first.Data.Text != "feed Tagged fails" || !slices.Equal(first.Data.Lines, []string{"Tagged: the server returned 503 Service Unavailable"}) || len(first.Data.Items) != 0 {
		t.Errorf("got %+v", first)
	}
	sent := f.state("a", "alerted", func(d storage.DeliveryState) bool { return len(d.Alerted) == 1 })
	f.state("a", "evaluated again", func(d storage.DeliveryState) bool { return d.Due.After(sent.Due.Add(2 * time.Minute)) })

	now = f.env.Clock.Now()
	c := failing(hosted, now, `Get "https://u:p4ss@feeds.c.example/feed?key=s3cret": connection refused`)
	a.State.Failures, a.State.Polled = 2, now // the same period
	f.put(a, failing(named, now.Add(time.Second), "no such host"), c)
	second := r.alerts(t, 2)[1]
	want := []string{`feeds.c.example: Get "https://feeds.c.example/feed?…": connection refused`, "Named: no such host"}
	if second.Data.Text != "2 feeds fail" || !slices.Equal(second.Data.Lines, want) {
		t.Errorf("got %+v, want %q", second, want)
	}

	a.State.Failures, a.State.FailingSince, a.State.Outcome = 0, time.Time{}, subjects.Unchanged
	f.put(a)
	again := failing(tagged, f.env.Clock.Now(), "the server returned 404 Not Found")
	f.put(again)
	if third := r.alerts(t, 3)[2]; third.Data.Text != "feed Tagged fails" || len(third.Data.Lines) != 1 || !strings.Contains(third.Data.Lines[0], "404") {
		t.Errorf("got %+v", third)
	}
}

// In an outage of 50,000 feeds the message and the stored keys are bounded, and no feed is in a second message.
func TestAlert_OutageOfManyFeeds(t *testing.T) {
	t.Parallel()
	const n = 50_000
	began := time.Now().UTC().Truncate(time.Microsecond)
	now := began.Add(time.Hour)
	failing := make([]failingFeed, n)
	for i := range failing {
		failing[i] = failingFeed{id: fmt.Sprintf("feed%08d", i), name: fmt.Sprint("Feed ", i), problem: "timeout", since: began.Add(time.Duration(i) * 10 * time.Millisecond)}
	}
	d := &deliverer{clock: func() time.Time { return now }, feeds: &feedCache{failing: failing, read: now, keep: time.Hour}}
	d.views = &viewCache{store: newFixture(t, 1).store}
	f := &fixture{TB: t, store: d.views.store, start: began}
	f.addView(1, "all", "view all = from all")
	r := &run{deliverer: d, Subscription: storage.Subscription{ID: "a", Views: []int64{1}, Created: began.Add(-time.Hour)}, condition: alert.Condition{Kind: alert.Feed}}
	evaluate := func() []occurrence {
		t.Helper()
		r.at = now
		all, _, err := r.evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all { // as sendAlerts does after the message
			r.state.Alerted = append(append(r.state.Alerted, o.key), o.others...)
			slices.Sort(r.state.Alerted)
			r.state.Alerted = r.state.Alerted[max(0, len(r.state.Alerted)-maxAlerted):]
		}
		return all
	}
	got := evaluate()
	if len(got) != 1 || got[0].text != "50000 feeds fail" || len(got[0].lines) != maxFeedLines || got[0].more != n-maxFeedLines {
		t.Fatalf("got %d alerts, the first %.200v", len(got), got)
	}
	if len(r.state.Alerted) != maxAlerted {
		t.Errorf("%d keys are stored", len(r.state.Alerted))
	}
	if again := evaluate(); len(again) > 0 {
		t.Errorf("the same feeds are in a second message: %s", again[0].text)
	}
	d.feeds.failing = append(d.feeds.failing, failingFeed{id: "new", name: "New", problem: "timeout", since: began.Add(30 * time.Minute)})
	if later := evaluate(); len(later) != 1 || later[0].text != "feed New fails" {
		t.Errorf("got %+v for a feed that failed later", later)
	}
}

// A condition that ceases while the receiver fails does not keep a later one from being sent.
func TestAlert_HoldsAgainAfterOneThatWasNotSent(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, 240), newReceiver(t, respondWith(503)) // four minutes a second
	f.alertOn("silence of 10m", r.URL)
	end := f.run()
	defer end()
	f.state("a", "failing", func(d storage.DeliveryState) bool { return d.Failures > 0 })
	f.enter(1, "item")
	r.now(nil)
	if got := r.alerts(t, 1)[0]; got.Data.Text != "no item for 10m" {
		t.Errorf("got %+v", got)
	}
	f.state("a", "well", func(d storage.DeliveryState) bool { return d.Failures == 0 })
}

// BenchmarkFeedCache reads the feeds that fail, 5 % of 50,000.
func BenchmarkFeedCache(b *testing.B) {
	f := newFixture(b, 1)
	var feeds []storage.Feed
	var states []subjects.FeedState
	for i := range 50_000 {
		url := fmt.Sprintf("https://h%d.example/feed", i)
		feeds = append(feeds, storage.Feed{ID: storage.FeedID(url), URL: url, Title: fmt.Sprint("Feed ", i), Tags: []string{"news"}, Added: f.start})
		state := subjects.FeedState{FeedID: storage.FeedID(url), State: &subjects.State{URL: url, Model: make([]byte, 200), Polled: f.start}}
		if i%20 == 0 {
			state.State.Failures, state.State.FailingSince, state.State.Error = 1, f.start, "timeout"
		}
		states = append(states, state)
	}
	for batch := range slices.Chunk(feeds, 5000) {
		if _, err := f.store.AddFeeds(b.Context(), batch...); err != nil {
			b.Fatal(err)
		}
	}
	meshtest.PutStates(b, f.env.Mesh, states...)
	c := &feedCache{store: f.store, states: f.env.Mesh.LoadStates}
	for b.Loop() {
		if got, err := c.load(b.Context()); err != nil || len(got) != 2500 {
			b.Fatalf("got %d feeds, %v", len(got), err)
		}
	}
}
