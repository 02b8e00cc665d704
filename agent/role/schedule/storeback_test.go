package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// storeItem stores an item of a feed and returns how often items of the feed were written.
func storeItem(t *testing.T, to storage.Store, url, key string) int64 {
	t.Helper()
	id := storage.FeedID(url)
	stored, err := to.PutItems(t.Context(), storage.Batch{FeedID: id, Items: []storage.Item{{
		ID: storage.ItemID(id, key), FeedID: id, Key: key, Hash: "h", Title: key, Published: worktest.Noon, FirstSeen: worktest.Noon,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return stored.Writes
}

// shared is a store of several processes, which may go back to an older state while they run, and does not announce its changes.
type shared struct{ storage.Store }

func (shared) Changed() <-chan struct{} { return nil }

// The store is replaced by an older state of it: the feeds of which it lost items are fetched whole, those that it
// lost are stored again, all others are left alone.
func TestReconcile_StoreWentBack(t *testing.T) {
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			r := newTestbed(t)
			current, older := worktest.ManyFeeds(t, 4), worktest.ManyFeeds(t, 3)
			s := r.scheduler(shared{current})
			if err := s.dispatch(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := range 3 { // all states have the first items, and the older one has no more
				storeItem(t, older, worktest.FeedURL(i), "first")
			}
			var seen []subjects.Observation
			for i := range 4 {
				writes := storeItem(t, current, worktest.FeedURL(i), "first")
				if i < 2 {
					writes = storeItem(t, current, worktest.FeedURL(i), "second")
				}
				id := storage.FeedID(worktest.FeedURL(i))
				o := about(id, subjects.Stored, r.state(id).Crawl, r.Clock())
				o.StoreWrites = writes
				seen = append(seen, o)
			}
			slices.Reverse(seen) // feed 0 is reported last
			if err := s.observe(t.Context(), []subjects.Observe{{Source: "test", Observations: seen}}); err != nil {
				t.Fatal(err)
			}
			if err := s.checkStore(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				if got := r.state(storage.FeedID(worktest.FeedURL(i))); got.ETag == "" || got.StoreWrites == 0 {
					t.Fatalf("before: got %+v of feed %d, want its validators and writes", got, i)
				}
			}
			if running { // a failover under the running schedule
				s.store = shared{older}
				if err := s.checkStore(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				s = r.scheduler(older)
			}
			for i := range 4 {
				id := storage.FeedID(worktest.FeedURL(i))
				got := r.state(id)
				behind := i != 2
				if whole := got.ETag == "" && got.BodyHash == "" && !got.Next.After(r.Clock()); whole != behind {
					t.Errorf("feed %d: got %+v, want it fetched whole: %v", i, got, behind)
				}
				if f, err := older.Feed(t.Context(), id); err != nil || s.plan.Behind(f.Version()) {
					t.Errorf("feed %d: got %+v, %v; want it stored", i, f, err)
				}
			}
		})
	}
}

// A store that works on after it went back reports fewer writes of a feed than before. The feeds that it does not
// report are fetched whole as well.
func TestCheckStore_ObservationShowsThatStoreWentBack(t *testing.T) {
	r := newTestbed(t)
	current, older := worktest.ManyFeeds(t, 2), worktest.ManyFeeds(t, 2)
	s := r.scheduler(current)
	stored := func(to storage.Store, i int, keys ...string) {
		t.Helper()
		if err := s.dispatch(t.Context()); err != nil {
			t.Fatal(err)
		}
		id := storage.FeedID(worktest.FeedURL(i))
		o := about(id, subjects.Stored, r.state(id).Crawl, r.Clock())
		for _, key := range keys {
			o.StoreWrites = storeItem(t, to, worktest.FeedURL(i), key)
		}
		if err := s.observe(t.Context(), []subjects.Observe{{Source: "test", Observations: []subjects.Observation{o}}}); err != nil {
			t.Fatal(err)
		}
	}
	stored(current, 0, "first", "second")
	stored(current, 1, "first", "second")
	if err := s.checkStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.store = older
	r.Advance(24 * time.Hour)
	stored(older, 0, "third")
	if err := s.checkStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if got := r.state(storage.FeedID(worktest.FeedURL(i))); got.ETag != "" || got.BodyHash != "" {
			t.Errorf("feed %d: got %+v, want it fetched whole", i, got)
		}
	}
	if len(s.notices) != 1 || s.notices[0].Text != "the store went back to an older state: 2 feeds are fetched whole, 0 that it lost were stored again" {
		t.Errorf("got notices %+v", s.notices)
	}
}
