package keep

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// published are the index tasks that a purger published.
type published struct {
	mu  sync.Mutex
	ids []string
	err error // of the next call
}

// Publish implements [subjects.Publisher].
func (p *published) Publish(_ context.Context, messages ...subjects.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.err; err != nil {
		p.err = nil
		return err
	}
	for _, m := range messages {
		if task, is := m.Task.(subjects.Index); is {
			p.ids = append(p.ids, task.IDs...)
		}
	}
	return nil
}

// A testbed is a store with feeds and a purger whose time the test sets.
type testbed struct {
	*testing.T
	*purger
	out *published
	now time.Time
}

func newTestbed(t *testing.T, p Policy) *testbed {
	t.Helper()
	b := &testbed{T: t, out: &published{}, now: now}
	if p.Floor == 0 {
		p.Floor = storage.MinKeep
	}
	b.purger = &purger{
		policy: p, store: enginetest.Store(t), out: b.out, clock: func() time.Time { return b.now }, log: slog.New(slog.DiscardHandler),
		depths: func(context.Context) ([]subjects.Depth, error) { return nil, nil },
		purged: prometheus.NewCounter(prometheus.CounterOpts{Name: "purged"}),
	}
	var err error
	if b.fence, err = b.store.NextFence(t.Context(), "retention"); err != nil {
		t.Fatal(err)
	}
	return b
}

// addFeed adds a feed with an item of each age, in days, and returns its ID.
func (b *testbed) addFeed(name string, f storage.Feed, ages ...int) string {
	b.Helper()
	f.URL = "https://" + name + ".example/"
	f.ID, f.Added = storage.FeedID(f.URL), b.now
	if _, err := b.store.AddFeeds(b.Context(), f); err != nil {
		b.Fatal(err)
	}
	var items []storage.Item
	for i, age := range ages {
		key := fmt.Sprintf("key-%d", i)
		seen := b.now.Add(-time.Duration(age)*day - time.Hour)
		items = append(items, storage.Item{ID: storage.ItemID(f.ID, key), FeedID: f.ID, Key: key, Hash: "h", HTML: "<p>text</p>", FirstSeen: seen, Published: seen})
	}
	if _, err := b.store.PutItems(b.Context(), storage.Batch{FeedID: f.ID, Items: items}); err != nil {
		b.Fatal(err)
	}
	return f.ID
}

// mustRound runs a round and returns the time until the next.
func (b *testbed) mustRound() time.Duration {
	b.Helper()
	next, err := b.round(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return next
}

// stored returns the number of stored items of each feed.
func (b *testbed) stored(ids ...string) (n []int64) {
	b.Helper()
	for _, id := range ids {
		f, err := b.store.Feed(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		n = append(n, f.Items)
	}
	return n
}

func (b *testbed) state() State {
	b.Helper()
	s, err := ReadState(b.Context(), b.store)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func TestRound_AnnouncesThenPurges(t *testing.T) {
	t.Parallel()
	b := newTestbed(t, Policy{Default: storage.Keep{Age: 90 * day}, Tags: []config.TagKeep{{Tag: "short", Keep: storage.Keep{Age: 30 * day}}}})
	feeds := []string{
		b.addFeed("default", storage.Feed{}, 100, 91, 89, 1),
		b.addFeed("tagged", storage.Feed{Tags: []string{"short"}}, 100, 31, 29),
		b.addFeed("all", storage.Feed{Tags: []string{"short"}, Keep: "all"}, 1000, 100),
		b.addFeed("number", storage.Feed{Keep: "2"}, 100, 40, 30, 20, 10, 2, 1),
		b.addFeed("both", storage.Feed{Keep: "50d,3"}, 60, 51, 40, 30, 20),
	}
	counted, err := Count(t.Context(), b.store, b.policy, b.now, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	if next := b.mustRound(); next != changedDelay {
		t.Errorf("the next round is after %v, want %v", next, changedDelay)
	}
	s := b.state()
	// of number: all but two, and two of the others are younger than the shortest age; of both: two by age
	if want := int64(2 + 2 + 0 + 5 + 2); s.Plan.Items != want || counted.Items != want || s.Plan.Bytes != want*11 || s.Reason != Changed || !s.Begins.Equal(b.now.Add(time.Hour)) {
		t.Errorf("the plan is %+v, counted %+v; want %d items", s, counted, want)
	}
	if want := b.now.Add(-100*day - time.Hour); !s.Plan.Oldest.Equal(want) || s.Plan.Feeds[0].FeedID != feeds[3] || s.Plan.Feeds[0].Items != 5 {
		t.Errorf("the plan is %+v; want %v as the oldest and 5 items of %s", s.Plan, want, feeds[3])
	}
	if got := b.stored(feeds...); !slices.Equal(got, []int64{4, 3, 2, 7, 5}) {
		t.Errorf("before the purge %v items are stored", got)
	}
	b.now = b.now.Add(changedDelay)
	if next := b.mustRound(); next != roundInterval {
		t.Errorf("the next round is after %v, want %v", next, roundInterval)
	}
	if got := b.stored(feeds...); !slices.Equal(got, []int64{2, 1, 2, 2, 3}) {
		t.Errorf("after the purge %v items are stored", got)
	}
	if s = b.state(); s.Plan.Items != 0 || s.Purged != 11 || !s.Ended.Equal(b.now) || !s.Begins.IsZero() {
		t.Errorf("after the purge the state is %+v", s)
	}
	var metric dto.Metric
	if err := b.purged.Write(&metric); err != nil {
		t.Fatal(err)
	}
	if n := metric.GetCounter().GetValue(); n != 11 || len(b.out.ids) != 11 {
		t.Errorf("%v items are counted and %d are deleted from the index, want 11", n, len(b.out.ids))
	}
	// The next day's rest goes immediately.
	b.now = b.now.Add(day)
	b.mustRound()
	if got := b.stored(feeds...); !slices.Equal(got, []int64{1, 0, 2, 2, 3}) {
		t.Errorf("a day later %v items are stored", got)
	}
}

func TestRound_KeepsAllByDefault(t *testing.T) {
	t.Parallel()
	b := newTestbed(t, PolicyOf(config.Default()))
	feed := b.addFeed("a", storage.Feed{}, 10_000, 1)
	for range 3 {
		b.mustRound()
		b.now = b.now.Add(day)
	}
	if got := b.stored(feed); got[0] != 2 {
		t.Errorf("%d items are stored, want 2", got[0])
	}
}

// A clock that jumps ahead makes all items old.
func TestRound_WaitsADayBeforeALargePurge(t *testing.T) {
	t.Parallel()
	b := newTestbed(t, Policy{Default: storage.Keep{Age: 90 * day}})
	feed := b.addFeed("a", storage.Feed{}, slices.Repeat([]int{1}, 1500)...)
	b.mustRound()
	right := b.now
	b.now = right.Add(200 * day)
	b.mustRound()
	b.now = b.now.Add(23 * time.Hour)
	b.mustRound()
	if s := b.state(); b.stored(feed)[0] != 1500 || s.Reason != Large || s.Plan.Items != 1500 {
		t.Errorf("%d items are stored after a jump of the clock, the state is %+v; want 1500", b.stored(feed)[0], s)
	}
	b.now = right.Add(2 * day)
	b.mustRound()
	if s := b.state(); b.stored(feed)[0] != 1500 || !s.Begins.IsZero() {
		t.Errorf("%d items are stored after the clock was set right, the state is %+v; want 1500", b.stored(feed)[0], s)
	}
}

func TestRound_GoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	b := newTestbed(t, Policy{Default: storage.Keep{Age: 90 * day}})
	feed := b.addFeed("a", storage.Feed{}, slices.Repeat([]int{100}, 300)...)
	b.mustRound()
	b.now = b.now.Add(changedDelay)
	b.out.err = fmt.Errorf("queue is full")
	if next, err := b.round(t.Context()); err == nil || next != time.Minute {
		t.Errorf("a failed round returns %v, %v", next, err)
	}
	if n := b.stored(feed)[0]; n == 0 || n == 300 {
		t.Errorf("%d items are stored after a failure, want some", n)
	}
	b.now = b.now.Add(time.Minute)
	b.mustRound()
	if n := b.stored(feed)[0]; n != 0 {
		t.Errorf("%d items are stored, want 0", n)
	}
	if f, err := b.store.Feed(t.Context(), feed); err != nil || f.Purged != 300 {
		t.Errorf("%d items are counted as purged, %v; want 300", f.Purged, err)
	}
}

func TestRun_StepsDownUnderANewerFence(t *testing.T) {
	t.Parallel()
	b := newTestbed(t, Policy{Default: storage.Keep{Age: 90 * day}})
	b.addFeed("a", storage.Feed{}, 100)
	if _, err := b.store.NextFence(t.Context(), "retention"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.round(t.Context()); err == nil {
		t.Error("a round under an old fence succeeded")
	}
}
