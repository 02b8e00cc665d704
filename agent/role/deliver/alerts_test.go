package deliver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/role/deliver/alert"
	"feedmesh/agent/role/deliver/webhook"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
)

// alertOn adds a subscription with a condition to view 1.
func (f *fixture) alertOn(condition, receiver string) {
	f.Helper()
	c, err := alert.Parse(condition)
	if err != nil {
		f.Fatal(err)
	}
	last, err := f.store.LastSerial(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	s := storage.Subscription{ID: "a", Title: "Watch", Views: []int64{1}, Channel: Webhook, Receiver: receiver, Secret: webhook.NewSecret(), After: last,
		Created: f.env.Clock.Now(), Alert: c.String(), IsTimed: c.IsTimed()}
	if err := storage.Subscriptions(f.store).Change(f.Context(), "a", func(*storage.Subscription) (*storage.Subscription, error) { return &s, nil }); err != nil {
		f.Fatal(err)
	}
}

// An alertBody is what an alert contains.
type alertBody struct {
	Type string
	Data struct {
		Title, Text string
		Lines       []string
		Items       []struct{ ID string }
		More        int
	}
}

func (b alertBody) ids() (ids []string) {
	for _, item := range b.Data.Items {
		ids = append(ids, item.ID)
	}
	return ids
}

// alerts waits until a receiver accepted n messages, and returns them.
func (r *receiver) alerts(t testing.TB, n int) (all []alertBody) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		all = nil
		r.mu.Lock()
		for _, id := range r.order {
			var body alertBody
			if err := json.Unmarshal([]byte(r.accepted[id][0]), &body); err != nil {
				t.Error(err)
			}
			all = append(all, body)
		}
		r.mu.Unlock()
		if len(all) >= n {
			return all
		}
	}
	t.Fatalf("got %+v, want %d alerts", all, n)
	return nil
}

// keys returns n new keys of items.
func keys(prefix string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(prefix, i))
	}
	return all
}

func TestAlert_MoreThan(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, 1), newReceiver(t, nil)
	f.alertOn("more than 3 in 1h", r.URL)
	f.enter(1, keys("few", 3)...)
	end := f.run()
	defer end()
	f.state("a", "at the last item without an alert", func(d storage.DeliveryState) bool { return d.Cursor == 3 && d.Sent.IsZero() })

	last := f.enter(1, "fourth")
	first := r.alerts(t, 1)[0]
	if first.Type != "alert" || first.Data.Title != "Watch" || first.Data.Text != "4 items in 1h" || len(first.Data.Items) != 4 || first.ids()[3] != last[0] {
		t.Errorf("got %+v", first)
	}
	f.state("a", "alerted", func(d storage.DeliveryState) bool { return d.Cursor == 4 && !d.Sent.IsZero() })
	f.enter(1, keys("later", 3)...) // those of the first alert are not counted again
	f.state("a", "at the last item", func(d storage.DeliveryState) bool { return d.Cursor == 7 })
	if n := len(r.alerts(t, 1)); n != 1 {
		t.Errorf("got %d alerts", n)
	}
	f.enter(1, keys("many", 30)...)
	if second := r.alerts(t, 2)[1]; len(second.Data.Items) != maxAlertItems || second.Data.More != 33-maxAlertItems {
		t.Errorf("got %+v", second)
	}
}

// While the receiver fails, the alert stays due, with the same ID, though the items are older than its time meanwhile.
func TestAlert_RetriedWithSameID(t *testing.T) {
	t.Parallel()
	var ids []string
	r := newReceiver(t, nil)
	r.now(func(w http.ResponseWriter, request *http.Request) bool {
		ids = append(ids, request.Header.Get("Webhook-Id"))
		if len(ids) < 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return false
		}
		return true
	})
	f := newFixture(t, 120) // two minutes a second
	f.alertOn("more than 1 in 1m", r.URL)
	f.enter(1, "one", "two")
	end := f.run()
	defer end()
	r.alerts(t, 1)
	f.state("a", "sent once", func(d storage.DeliveryState) bool { return d.Failures == 0 && len(d.Alerted) == 1 })
	if len(ids) != 4 || len(slices.Compact(ids)) != 1 {
		t.Errorf("got messages %v", ids)
	}
}

// enterStory stores an item of an event of a story, and makes it a member of view 1.
func (f *fixture) enterStory(key, event, story, host string) (id string) {
	f.Helper()
	item := worktest.Item(storage.FeedID(feedURL), key, key, "text")
	item.URL, item.EventID, item.StoryID = "https://"+host+"/"+key, event, story
	item.Published, item.FirstSeen = f.env.Clock.Now(), f.env.Clock.Now()
	if _, err := f.store.PutItems(f.Context(), storage.Batch{FeedID: storage.FeedID(feedURL), Items: []storage.Item{item}}); err != nil {
		f.Fatal(err)
	}
	member := storage.Member{View: 1, ItemID: item.ID, Entered: f.start, Published: f.start}
	if err := f.store.ChangeMembers(f.Context(), storage.Fence{}, []storage.Member{member}, nil); err != nil {
		f.Fatal(err)
	}
	return item.ID
}

func TestAlert_StoryReaches(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, 1), newReceiver(t, nil)
	f.alertOn("story reaches 3 publishers", r.URL)
	entered := func(key, story, host string) { f.enterStory(key, "event of "+key, story, host) }
	end := f.run()
	defer end()
	entered("a", "one", "a.example")
	entered("b", "one", "b.example")
	entered("c", "two", "c.example")
	entered("d", "one", "b.example") // the same publisher
	f.state("a", "at the last item", func(d storage.DeliveryState) bool { return d.Cursor == 4 })
	entered("e", "one", "e.example")
	got := r.alerts(t, 1)
	if got[0].Data.Text != "a story has 3 publishers" || len(got[0].Data.Items) != 1 {
		t.Errorf("got %+v", got[0])
	}
	entered("f", "one", "f.example")
	f.state("a", "at the last item", func(d storage.DeliveryState) bool { return d.Cursor == 6 })
	if n := len(r.alerts(t, 1)); n != 1 {
		t.Errorf("got %d alerts of one story", n)
	}
}

func TestAlert_NewEventOfAStory(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, 1), newReceiver(t, nil)
	f.alertOn("new event", r.URL)
	end := f.run()
	defer end()
	f.enterStory("a", "launch", "ship", "a.example")
	f.enterStory("b", "launch", "ship", "b.example")
	f.enterStory("c", "other", "alone", "c.example")
	f.state("a", "at the last item", func(d storage.DeliveryState) bool { return d.Cursor == 3 && len(d.Alerted) == 0 })
	id := f.enterStory("d", "landing", "ship", "a.example")
	if got := r.alerts(t, 1)[0]; got.Data.Text != "a story has a new event" || !slices.Equal(got.ids(), []string{id}) {
		t.Errorf("got %+v, want item %s", got, id)
	}
	f.enterStory("e", "landing", "ship", "b.example")
	f.state("a", "at the last item", func(d storage.DeliveryState) bool { return d.Cursor == 5 })
	if n := len(r.alerts(t, 1)); n != 1 {
		t.Errorf("got %d alerts of one event", n)
	}
}

// A burst that the role cluster stored is sent once; those of other views, and from before the subscription, are not.
func TestAlert_Burst(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, 1), newReceiver(t, nil)
	f.alertOn("burst", r.URL)
	since := f.env.Clock.Now().Add(time.Second).Truncate(time.Millisecond)
	note, err := json.Marshal([]placement.Burst{
		{Of: placement.OfView, Name: "1", Since: f.start.Add(-time.Hour), Items: 9},
		{Of: placement.OfView, Name: "2", Since: since, Items: 9},
		{Of: placement.OfTopic, Name: "1", Since: since, Items: 9},
		{Of: placement.OfView, Name: "1", Since: since, Items: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.enter(1, "before")
	f.base = f.base.Add(2 * time.Second)
	ids := f.enter(1, keys("burst", 5)...)
	if err := storage.Notes(f.store).Put(t.Context(), storage.Fence{}, placement.BurstsNote, note); err != nil {
		t.Fatal(err)
	}
	end := f.run()
	defer end()
	got := r.alerts(t, 1)
	if !strings.HasPrefix(got[0].Data.Text, "more items than usual: 5 since ") || !slices.Equal(got[0].ids(), ids) {
		t.Errorf("got %+v, want items %v", got[0], ids)
	}
	f.state("a", "evaluated, with its next time", func(d storage.DeliveryState) bool {
		return len(d.Alerted) == 1 && d.Due.After(f.env.Clock.Now())
	})
}

func TestAlert_SilenceOncePerSilence(t *testing.T) {
	t.Parallel()
	f, r := newFixture(t, 120), newReceiver(t, nil) // two minutes a second
	f.alertOn("silence of 10m", r.URL)
	end := f.run()
	defer end()
	began := time.Now()
	first := r.alerts(t, 1)
	if took := time.Since(began) * 120; took < 10*time.Minute || first[0].Data.Text != "no item for 10m" || len(first[0].Data.Items) != 0 {
		t.Errorf("got %+v after %v", first[0], took)
	}
	sent := f.state("a", "alerted", func(d storage.DeliveryState) bool { return len(d.Alerted) == 1 })
	f.state("a", "evaluated again", func(d storage.DeliveryState) bool { return d.Due.After(sent.Due.Add(2 * time.Minute)) })
	f.enter(1, "item")
	if all := r.alerts(t, 2); len(all) != 2 {
		t.Errorf("got %+v", all)
	}
}
