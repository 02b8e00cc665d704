package schedule

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/agent/mesh/meshtest"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/subjects"
)

// Garbage in place of entries and under other keys costs a reload, and no feed its polls.
func TestSchedule_PollsDespiteUnreadableState(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 20)
	_, stop := r.schedule("a", store)
	var tasks []subjects.Crawl
	worktest.Eventually(t, "all feeds are dispatched", func() bool { tasks = r.crawls(); return r.feedsIn(tasks) == 20 })
	r.purge()
	kv, err := r.JS.KeyValue(t.Context(), subjects.ScheduleBucket)
	if err != nil {
		t.Fatal(err)
	}
	damaged := tasks[0].Feeds[3].FeedID
	entries, err := kv.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	garbage := map[string]string{"last-task": "{", "unknown": `{"url":""}`}
	for _, key := range entries {
		garbage[key] = "\xffgarbage"
	}
	for key, value := range garbage {
		if _, err := kv.Put(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	r.Advance(time.Second)
	r.answer(tasks[0]) // its write fails, and the schedule reloads
	worktest.Eventually(t, "the feeds without a state are dispatched again", func() bool { tasks = r.crawls(); return r.feedsIn(tasks) == 20 })
	for _, task := range tasks {
		r.answer(task)
	}
	worktest.Eventually(t, "the response is stored", func() bool { return r.state(damaged).ETag != "" })
	stop()
	r.purge()
	r.Advance(2 * time.Hour)
	r.schedule("b", store) // a restart
	worktest.Eventually(t, "all feeds are due again", func() bool { return r.feedsIn(r.crawls()) == 20 })
	list, err := r.Mesh.Quarantined(t.Context(), 0, 10)
	if err != nil || len(list) != len(garbage) {
		t.Errorf("got %+v, %v in quarantine; want the %d values", list, err, len(garbage))
	}
	if _, err := kv.Get(t.Context(), "unknown"); err != jetstream.ErrKeyNotFound {
		t.Errorf("a value of no feed: got %v, want it removed", err)
	}
}

// A state whose address is not that of its feed is replaced.
func TestReconcile_ReplacesStateOfAnotherAddress(t *testing.T) {
	r := newTestbed(t)
	store := worktest.ManyFeeds(t, 3)
	r.scheduler(store)
	var feed subjects.FeedState
	for _, feed = range r.states() {
		break
	}
	feed.State.URL, feed.State.ETag = "https://wrong.example/", "wrong"
	meshtest.PutStates(t, r.Mesh, feed)
	s := r.scheduler(store)
	if got := r.state(feed.FeedID); got.URL == "https://wrong.example/" || got.ETag != "" || s.plan.URL(feed.FeedID) != got.URL {
		t.Errorf("got %+v, want a new state", got)
	}
}
