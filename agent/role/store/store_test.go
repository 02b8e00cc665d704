package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// storeTask returns the task to store items of the blog.
func storeTask(keys string) subjects.Store {
	id := storage.FeedID(worktest.Blog)
	var items []storage.Item
	for _, key := range strings.Fields(keys) {
		items = append(items, worktest.Item(id, key, key, key))
	}
	c := worktest.ClusterTask(id, 1, items...)
	return subjects.Store{Document: c.Document, Items: c.Items}
}

// storerOf returns a storer for a store.
func storerOf(store storage.Store) (*storer, *worktest.Outbox) {
	out := &worktest.Outbox{}
	return newStorer(&work.Env{Store: store, Metrics: prometheus.NewRegistry()}, out), out
}

func TestStore_PublishesIndexTaskAndObservation(t *testing.T) {
	store := worktest.StoreWith(t, worktest.Blog)
	k, out := storerOf(store)
	task := storeTask("a b c")
	want := []string{task.Items[0].ID, task.Items[1].ID, task.Items[2].ID}
	var first subjects.Index
	for attempt := 1; attempt <= 2; attempt++ { // the first attempt may have failed after its commit
		if err := k.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		index := worktest.Sent(t, out, subjects.IndexQueue)
		if len(index) != 1 || !slices.Equal(index[0].IDs, want) || !index[0].Fetched.Equal(worktest.Noon) {
			t.Fatalf("attempt %d: got index task %+v, want all items, with their fetch time", attempt, index)
		}
		if attempt == 1 {
			first = index[0]
		} else if index[0].ID() != first.ID() {
			t.Errorf("attempt %d: got index task %s, want the same as before", attempt, index[0].ID())
		}
		seen := worktest.Only(t, out, subjects.ObserveQueue).Observations
		if len(seen) != 1 || seen[0].Receipt != task.Receipt || seen[0].Outcome != subjects.Stored || seen[0].Rate != 3 || seen[0].Items != 3*(2-attempt) {
			t.Errorf("attempt %d: got %+v, want outcome stored with the receipt", attempt, seen)
		}
	}
	feed, err := store.Feed(t.Context(), task.FeedID)
	if err != nil || feed.Items != 3 || feed.Title != "Title" || feed.Site != "http://blog.example/" || feed.Language != "en" || feed.Rate != 3 {
		t.Errorf("got feed %+v, %v; want the document's metadata", feed, err)
	}
}

func TestStore_PublishesViewTaskIfThereAreViews(t *testing.T) {
	store := worktest.StoreWith(t, worktest.Blog)
	k, out := storerOf(store)
	receive := func() []subjects.View {
		t.Helper()
		out.Messages = nil
		if err := k.Receive(t.Context(), storeTask("a b")); err != nil {
			t.Fatal(err)
		}
		return worktest.Sent(t, out, subjects.ViewQueue)
	}
	if tasks := receive(); len(tasks) != 0 {
		t.Errorf("got %v without views", tasks)
	}
	err := storage.Views(store).Change(t.Context(), "a", func(*storage.View) (*storage.View, error) {
		return &storage.View{Name: "a", Definition: "view a = from all", Changed: worktest.Noon}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	k.views.read = time.Time{} // as after a second
	if tasks := receive(); len(tasks) != 1 || len(tasks[0].IDs) != 2 || tasks[0].Past {
		t.Errorf("got %+v with a view", tasks)
	}
}

func TestStore_RepeatedItemsAreIndexedAgain(t *testing.T) {
	k, out := storerOf(worktest.StoreWith(t, worktest.Blog))
	ids := map[string]bool{}
	for _, crawl := range []string{"c1", "c2"} {
		task := storeTask("a")
		task.Crawl = crawl
		task.Items[0].Hash += crawl
		if err := k.Receive(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		ids[worktest.Sent(t, out, subjects.IndexQueue)[0].ID()] = true
	}
	if len(ids) != 2 {
		t.Errorf("got %d different index tasks, want 2: the queue drops duplicate IDs", len(ids))
	}
}

func TestStore_DiscardsItemsOfRemovedFeed(t *testing.T) {
	k, out := storerOf(enginetest.Store(t))
	err := k.Receive(t.Context(), storeTask("a"))
	if !errors.Is(err, storage.ErrNotFound) || len(out.Messages) != 0 {
		t.Errorf("got %v (%T) and %d messages, want ErrNotFound and none", err, err, len(out.Messages))
	}
	if got, want := fmt.Sprintf("%T", err), fmt.Sprintf("%T", mesh.Discard(err)); got != want {
		t.Errorf("got an error of type %s, want %s", got, want)
	}
}

// fullStore is a store whose disk is full.
type fullStore struct{ storage.Store }

func (fullStore) PutItems(context.Context, storage.Batch) (storage.Stored, error) {
	return storage.Stored{}, worktest.ErrAway
}

func TestStore_PublishesNothingBeforeTheCommit(t *testing.T) {
	k, out := storerOf(fullStore{enginetest.Store(t)})
	if err := k.Receive(t.Context(), storeTask("a")); !errors.Is(err, worktest.ErrAway) || len(out.Messages) != 0 {
		t.Errorf("got %v and %d messages, want the store's error and none", err, len(out.Messages))
	}
	k, out = storerOf(worktest.StoreWith(t, worktest.Blog))
	out.Err = worktest.ErrAway
	if err := k.Receive(t.Context(), storeTask("a")); !errors.Is(err, worktest.ErrAway) {
		t.Errorf("got %v when publishing fails, want that error, so that the task is retried", err)
	}
}

func TestStore_SmallBatchesAreSpaced(t *testing.T) {
	full := make([]subjects.Store, maxConcurrentStores)
	for i := range full {
		full[i] = storeTask("a")
	}
	k, _ := storerOf(worktest.StoreWith(t, worktest.Blog))
	k.views.any(t.Context()) // reads outside of the bubble, in which connections of the pool cannot be used
	synctest.Test(t, func(t *testing.T) {
		for n, test := range []struct {
			after time.Duration // since the batch before
			batch []subjects.Store
			waits time.Duration
		}{
			{0, full[:1], 0},
			{minStoreInterval, full[:1], 0},
			{time.Hour, full[:2], 0},
			{0, full[:3], minStoreInterval},
			{minStoreInterval / 4, full[:1], minStoreInterval * 3 / 4},
			{0, full, 0},
			{0, full[:1], minStoreInterval},
		} {
			time.Sleep(test.after)
			start := time.Now()
			if err := k.ReceiveAll(t.Context(), test.batch); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(start); waited != test.waits {
				t.Errorf("batch %d of %d documents: got wait %v, want %v", n, len(test.batch), waited, test.waits)
			}
		}
	})
}
