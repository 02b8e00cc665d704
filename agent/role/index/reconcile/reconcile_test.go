package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/role/index/reconcile"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// A pair is a store and an index with generated items, some of which differ.
type pair struct {
	store storage.Store
	index storage.Index
	want  map[string]reconcile.State
}

// newPair generates n items of four days, some of which differ.
func newPair(t *testing.T, n int) *pair {
	t.Helper()
	p := &pair{enginetest.Store(t), enginetest.Index(t), map[string]reconcile.State{}}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	feed := storage.FeedID("https://example.org/")
	batch := storage.Batch{FeedID: feed}
	for i := range n {
		key := fmt.Sprint(i)
		batch.Items = append(batch.Items, storage.Item{
			ID: storage.ItemID(feed, key), Key: key, Hash: "1", FirstSeen: noon.Add(-time.Duration(r.IntN(96)) * time.Hour),
		})
	}
	_, err := p.store.AddFeeds(t.Context(), storage.Feed{ID: feed, URL: "https://example.org/"})
	if err == nil {
		_, err = p.store.PutItems(t.Context(), batch)
	}
	var indexed []storage.IndexItem
	for _, item := range batch.Items {
		item, fault := storage.ItemByID(t.Context(), p.store, item.ID)
		err = errors.Join(err, fault)
		switch r.IntN(8) {
		case 0:
			p.want[item.ID] = reconcile.Missing
			continue
		case 1:
			p.want[item.ID] = reconcile.Stale
			item.Changed = item.Changed.Add(-time.Microsecond)
		case 2:
			item.ID += "-surplus"
			p.want[item.ID[:len(item.ID)-8]] = reconcile.Missing
			p.want[item.ID] = reconcile.Surplus
		default:
			p.want[item.ID] = reconcile.Same
		}
		indexed = append(indexed, storage.IndexItem{Item: item})
	}
	if err := errors.Join(err, p.index.Put(t.Context(), indexed...)); err != nil {
		t.Fatal(err)
	}
	return p
}

// queue returns the tasks that Queue publishes for items in one of the states.
func (p *pair) queue(t *testing.T, states ...reconcile.State) []subjects.Index {
	t.Helper()
	days, err := reconcile.Begin(t.Context(), p.store, p.index, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]reconcile.State{}
	var tasks []subjects.Index
	err = reconcile.Queue(t.Context(), p.store, p.index, days, "why",
		func(item reconcile.Item) (bool, error) {
			if _, again := got[item.ID]; again {
				t.Errorf("item %s was compared twice", item.ID)
			}
			got[item.ID] = item.State
			return slices.Contains(states, item.State), nil
		},
		func(_ context.Context, task subjects.Index) error {
			tasks = append(tasks, task)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(p.want) {
		t.Errorf("got %d items compared, want %d", len(got), len(p.want))
	}
	for id, want := range p.want {
		if got[id] != want {
			t.Errorf("item %s is %q, want %q", id, got[id], want)
		}
	}
	return tasks
}

func TestQueue_ComparesEachItemOnce(t *testing.T) {
	for _, n := range []int{0, 1, 10, 5000} { // 5000 items have days of several pages
		p := newPair(t, n)
		tasks := p.queue(t, reconcile.Missing, reconcile.Stale, reconcile.Surplus)
		var queued []string
		for _, task := range tasks {
			if len(task.IDs) == 0 || len(task.IDs) > reconcile.MaxIDs || task.Reason != "why" {
				t.Errorf("got a task of %d items because of %q, want 1 to %d because of why", len(task.IDs), task.Reason, reconcile.MaxIDs)
			}
			queued = append(queued, task.IDs...)
		}
		want := 0
		for id, state := range p.want {
			if state == reconcile.Same {
				continue
			}
			want++
			if !slices.Contains(queued, id) {
				t.Errorf("item %s, which is %s, was not queued", id, state)
			}
		}
		if len(queued) != want {
			t.Errorf("got %d items queued, want %d", len(queued), want)
		}
	}
}

func TestBegin_NewestFirst(t *testing.T) {
	p := newPair(t, 300)
	var last time.Time
	for _, task := range p.queue(t, reconcile.Same, reconcile.Stale, reconcile.Missing) {
		items, err := p.store.Items(t.Context(), task.IDs...)
		if err != nil || len(items) != len(task.IDs) {
			t.Fatalf("got %d items, %v; want %d", len(items), err, len(task.IDs))
		}
		for _, item := range items {
			day := storage.Day(item.FirstSeen)
			if !last.IsZero() && day.After(last) {
				t.Fatalf("got an item of %v after one of %v", day, last)
			}
			last = day
		}
	}
}

func TestBegin_CountsOfBothSides(t *testing.T) {
	p := newPair(t, 100)
	days, err := reconcile.Begin(t.Context(), p.store, p.index, time.Now())
	if err != nil || len(days) == 0 {
		t.Fatalf("got %v, %v; want some days", days, err)
	}
	var stored, indexed int64
	for i, day := range days {
		if i > 0 && !day.Start.Before(days[i-1].Start) {
			t.Errorf("got %v after %v, want the newest first", day.Start, days[i-1].Start)
		}
		stored, indexed = stored+day.Stored, indexed+day.Indexed
	}
	counts, err := p.store.CountFeeds(t.Context(), storage.FeedQuery{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := p.index.Count(t.Context())
	if err != nil || stored != counts.Items || indexed != n {
		t.Errorf("got %d and %d items in all, %v; want %d and %d", stored, indexed, err, counts.Items, n)
	}
}

// failing returns an error after a number of pages.
type failing struct {
	storage.StampReader
	pages int
}

var errAway = errors.New("the engine is away")

func (f *failing) Stamps(ctx context.Context, day time.Time, after string, limit int) ([]storage.Stamp, error) {
	if f.pages--; f.pages < 0 {
		return nil, errAway
	}
	return f.StampReader.Stamps(ctx, day, after, limit)
}

func TestQueue_StopsAtTheFirstError(t *testing.T) {
	p := newPair(t, 50)
	days, err := reconcile.Begin(t.Context(), p.store, p.index, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	all := func(reconcile.Item) (bool, error) { return true, nil }
	take := func(context.Context, subjects.Index) error { return nil }
	for name, queue := range map[string]func() error{
		"the index": func() error {
			return reconcile.Queue(t.Context(), p.store, &failing{p.index, 2}, days, "why", all, take)
		},
		"the store": func() error {
			return reconcile.Queue(t.Context(), &failing{p.store, 2}, p.index, days, "why", all, take)
		},
		"the queue": func() error {
			return reconcile.Queue(t.Context(), p.store, p.index, days, "why", all,
				func(context.Context, subjects.Index) error { return errAway })
		},
		"the choice": func() error {
			return reconcile.Queue(t.Context(), p.store, p.index, days, "why",
				func(reconcile.Item) (bool, error) { return false, errAway }, take)
		},
	} {
		if err := queue(); !errors.Is(err, errAway) {
			t.Errorf("%s failed: got %v, want its error", name, err)
		}
	}
}
