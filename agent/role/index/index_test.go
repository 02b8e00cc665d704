package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/role/work"
	"feedmesh/agent/role/work/worktest"
	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// indexerOf returns an indexer, and a store with n items of the blog.
func indexerOf(t *testing.T, n int) (*indexer, storage.Store, []string) {
	t.Helper()
	store := worktest.StoreWith(t, worktest.Blog)
	id := storage.FeedID(worktest.Blog)
	batch := storage.Batch{FeedID: id}
	var ids []string
	for i := range n {
		item := worktest.Item(id, fmt.Sprint(i), "", "")
		item.Title, item.HTML = "title", fmt.Sprintf("<p>content number%d &amp; more</p>", i)
		batch.Items = append(batch.Items, item)
		ids = append(ids, item.ID)
	}
	if _, err := store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	env := &work.Env{Store: store, Index: enginetest.Index(t), Clock: worktest.AtNoon, Metrics: prometheus.NewRegistry()}
	return newIndexer(env, &worktest.Outbox{}), store, ids
}

// find returns the IDs of items with all of these words.
func find(t *testing.T, x storage.Index, words string) []string {
	t.Helper()
	results, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: words}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, hit := range results.Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func TestIndexer_AddsAndDeletesItems(t *testing.T) {
	x, store, ids := indexerOf(t, 3)
	index := subjects.Index{Reason: "stored", IDs: append(ids, "never-there"), Fetched: worktest.Noon}
	if err := x.ReceiveAll(t.Context(), []subjects.Index{index}); err != nil {
		t.Fatal(err)
	}
	if got := find(t, x.index, "number1 more"); !slices.Equal(got, ids[1:2]) {
		t.Errorf("got %v for words of the second item, want that item", got)
	}
	if got := find(t, x.index, "amp"); len(got) != 0 {
		t.Errorf("got %v for markup, want none", got)
	}
	if _, err := store.RemoveFeed(t.Context(), storage.FeedID(worktest.Blog)); err != nil {
		t.Fatal(err)
	}
	if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "removed", IDs: ids}}); err != nil {
		t.Fatal(err)
	}
	if n, err := x.index.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("got %d items, %v after their feed was removed, want none", n, err)
	}
}

func TestIndexer_OrderAndRepetitionDoNotMatter(t *testing.T) {
	x, store, ids := indexerOf(t, 50)
	var tasks []subjects.Index
	for i := range ids {
		// Each item is in several tasks, some of which are older than its last change.
		tasks = append(tasks, subjects.Index{Reason: fmt.Sprint(i), IDs: []string{ids[i], ids[(i*7)%50], ids[i]}, Fetched: worktest.Noon})
	}
	changed := worktest.Item(storage.FeedID(worktest.Blog), "7", "", "")
	changed.Hash, changed.HTML = "other", "<p>now about bees</p>"
	r := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		if err := x.ReceiveAll(t.Context(), tasks[:25]); err != nil {
			t.Fatal(err)
		}
		if _, err := store.PutItems(t.Context(), storage.Batch{FeedID: storage.FeedID(worktest.Blog), Items: []storage.Item{changed}}); err != nil {
			t.Fatal(err)
		}
		if err := x.ReceiveAll(t.Context(), tasks); err != nil {
			t.Fatal(err)
		}
		if n, err := x.index.Count(t.Context()); n != 50 || err != nil {
			t.Errorf("got %d items, %v; want each once", n, err)
		}
		if got := find(t, x.index, "bees"); !slices.Equal(got, ids[7:8]) || len(find(t, x.index, "number7")) != 0 {
			t.Errorf("got %v for the new words of the changed item, want that item, and none for its old words", got)
		}
	}
}

// A countingIndex records the sizes of batches.
type countingIndex struct {
	storage.Index
	puts []int
	err  error
}

func (c *countingIndex) Put(ctx context.Context, items ...storage.IndexItem) error {
	c.puts = append(c.puts, len(items))
	if c.err != nil {
		return c.err
	}
	return c.Index.Put(ctx, items...)
}

func TestIndexer_ManyTasksMakeFewBatches(t *testing.T) {
	x, _, ids := indexerOf(t, 2500)
	index := &countingIndex{Index: enginetest.Index(t)}
	x.index = index
	var tasks []subjects.Index
	for chunk := range slices.Chunk(ids, 25) {
		tasks = append(tasks, subjects.Index{Reason: "stored", IDs: chunk})
	}
	if err := x.ReceiveAll(t.Context(), tasks); err != nil {
		t.Fatal(err)
	}
	if want := []int{2000, 500}; !slices.Equal(index.puts, want) {
		t.Errorf("got batches of %v, want %v", index.puts, want)
	}
	index.err = errors.New("the engine is away")
	if err := x.ReceiveAll(t.Context(), tasks); !errors.Is(err, index.err) {
		t.Errorf("got %v, want the engine's error, so that the tasks are retried", err)
	}
	if err := x.ReceiveAll(t.Context(), nil); err != nil {
		t.Errorf("got %v for no tasks, want nil", err)
	}
}

// A picky index rejects the items with the given IDs.
type picky struct {
	storage.Index
	refuses []string
}

var errUgly = errors.New("it is ugly")

func (p *picky) Put(ctx context.Context, items ...storage.IndexItem) error {
	var rejected []string
	kept := slices.DeleteFunc(items, func(it storage.IndexItem) bool {
		if slices.Contains(p.refuses, it.ID) {
			rejected = append(rejected, it.ID)
			return true
		}
		return false
	})
	if err := p.Index.Put(ctx, kept...); err != nil || rejected == nil {
		return err
	}
	return &storage.RejectedError{IDs: rejected, Err: errUgly}
}

func TestIndexer_RejectedItemsGetSeparateTasks(t *testing.T) {
	x, _, ids := indexerOf(t, 1500) // more than a batch
	out := &worktest.Outbox{}
	x.index, x.out = &picky{Index: enginetest.Index(t), refuses: []string{ids[3], ids[700], ids[1400]}}, out
	var tasks []subjects.Index
	for chunk := range slices.Chunk(ids, 500) {
		tasks = append(tasks, subjects.Index{Reason: "stored", IDs: chunk})
	}
	if err := x.ReceiveAll(t.Context(), tasks); err != nil {
		t.Fatalf("got %v, want nil", err)
	}
	if n, err := x.index.Count(t.Context()); n != 1497 || err != nil {
		t.Errorf("got %d items indexed, %v; want the other 1497", n, err)
	}
	if got := worktest.Counted(t, x.indexed); got != 1497 {
		t.Errorf("got %v items counted, want 1497", got)
	}
	apart := worktest.Sent(t, out, subjects.IndexQueue)
	if len(apart) != 3 {
		t.Fatalf("got tasks %+v, want one for each of the three", apart)
	}
	seen := map[string]bool{}
	for _, task := range apart {
		seen[task.ID()] = true
		if err := x.ReceiveAll(t.Context(), []subjects.Index{task}); !errors.Is(err, errUgly) || !strings.Contains(err.Error(), task.IDs[0]) {
			t.Errorf("got %v for a repeatedly rejected item, want the item and the reason", err)
		}
	}
	if len(seen) != 3 || len(out.Messages) != 0 {
		t.Errorf("got %d task IDs and %d additional tasks, want 3 and none", len(seen), len(out.Messages))
	}
	// In a batch with others it must neither count as indexed nor be queued again.
	remaining := subjects.Index{Reason: "stored", IDs: ids[:2]}
	if err := x.ReceiveAll(t.Context(), []subjects.Index{remaining, apart[0]}); !errors.Is(err, errUgly) || len(out.Messages) != 0 {
		t.Errorf("got %v and %d tasks for a batch with a separated task, want an error", err, len(out.Messages))
	}
	out.Err = errors.New("the queue is away")
	if err := x.ReceiveAll(t.Context(), tasks); !errors.Is(err, out.Err) {
		t.Errorf("got %v when the tasks can't be queued, want the publish error", err)
	}
}

func TestIndexer_IndexesCoverage(t *testing.T) {
	store := worktest.StoreWith(t, worktest.Blog)
	id := storage.FeedID(worktest.Blog)
	batch := storage.Batch{FeedID: id}
	for key, story := range map[string]string{"a": "told", "b": "untold", "c": ""} {
		item := worktest.Item(id, key, "", "")
		item.Title, item.StoryID = "title", story
		batch.Items = append(batch.Items, item)
	}
	if _, err := store.PutItems(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if err := store.PutStories(t.Context(), storage.Fence{}, nil, []storage.Story{{ID: "told", Sources: 7}}, nil); err != nil {
		t.Fatal(err)
	}
	index := &keepingIndex{}
	x := newIndexer(&work.Env{Store: store, Index: index, Clock: worktest.AtNoon, Metrics: prometheus.NewRegistry()}, &worktest.Outbox{})
	var ids []string
	for _, item := range batch.Items {
		ids = append(ids, item.ID)
	}
	if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "stored", IDs: ids}}); err != nil {
		t.Fatal(err)
	}
	for _, it := range index.put {
		if want := map[string]int{"a": 7}[it.Key]; it.Sources != want {
			t.Errorf("%s: got %d sources, want %d", it.Key, it.Sources, want)
		}
	}
	if len(index.put) != 3 {
		t.Errorf("got %d items, want 3", len(index.put))
	}
}

// A story that grew costs one item of an index that keeps stories apart, and all its items of another.
func TestIndexer_StoryOfManyItems(t *testing.T) {
	for apart, want := range map[bool]int{true: 1, false: 3} {
		x, _, ids := indexerOf(t, 3)
		index := &keepingIndex{apart: apart}
		x.index = index
		if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "story of 4 sources", IDs: ids, Story: true}}); err != nil {
			t.Fatal(err)
		}
		if len(index.put) != want {
			t.Errorf("stories apart: %v: got %d items, want %d", apart, len(index.put), want)
		}
	}
}

// A task of many items, for example of a comparison, is put in parts of the index's size. A task without items is
// no error.
func TestIndexer_BatchSizeOfIndex(t *testing.T) {
	x, _, ids := indexerOf(t, 2*keptBatch+1)
	index := &keepingIndex{apart: true}
	x.index = index
	if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "missing", IDs: ids}, {Reason: "story of 2 sources", Story: true}}); err != nil {
		t.Fatal(err)
	}
	if want := []int{keptBatch, keptBatch, 1}; !slices.Equal(index.batches, want) || len(index.put) != len(ids) {
		t.Errorf("got batches of %v items, want %v", index.batches, want)
	}
}

// An engine that works on one batch while the next waits gets two at a time.
func TestIndexer_ConcurrentBatches(t *testing.T) {
	x, _, ids := indexerOf(t, 4*keptBatch)
	index := &pairingIndex{calls: make(chan bool)}
	x.index = index
	if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "missing", IDs: ids}}); err != nil {
		t.Error(err)
	}
}

// A pairingIndex accepts batches in pairs only.
type pairingIndex struct {
	keepingIndex
	calls chan bool
}

func (*pairingIndex) Batches() (size, concurrent int) { return keptBatch, 2 }

func (p *pairingIndex) Put(ctx context.Context, _ ...storage.IndexItem) error {
	select {
	case p.calls <- true:
	case <-p.calls:
	case <-time.After(30 * time.Second):
		return errors.New("timeout: there is no second batch")
	}
	return ctx.Err()
}

// A keepingIndex records its items.
type keepingIndex struct {
	storage.Index
	put     []storage.IndexItem
	batches []int // sizes
	apart   bool
}

const keptBatch = 3

func (k *keepingIndex) StoriesApart() bool { return k.apart }

func (*keepingIndex) Batches() (size, concurrent int) { return keptBatch, 1 }

func (k *keepingIndex) Put(_ context.Context, items ...storage.IndexItem) error {
	k.put, k.batches = append(k.put, items...), append(k.batches, len(items))
	return nil
}

// An overtakenIndex calls overtake before its first put.
type overtakenIndex struct {
	storage.Index
	overtake func()
}

func (o *overtakenIndex) Put(ctx context.Context, items ...storage.IndexItem) error {
	if overtake := o.overtake; overtake != nil {
		o.overtake = nil
		overtake()
	}
	return o.Index.Put(ctx, items...)
}

// Another agent indexes a later version of an item between this agent's read of the store and its put.
func TestIndexer_OvertakenByAnotherAgent(t *testing.T) {
	feed := storage.FeedID(worktest.Blog)
	changed := worktest.Item(feed, "1", "", "")
	changed.Hash, changed.HTML = "other", "<p>now about bees</p>"
	for name, c := range map[string]struct {
		change func(t *testing.T, store storage.Store) error
		want   func(t *testing.T, index storage.Index)
	}{
		"a new revision": {
			func(t *testing.T, store storage.Store) error {
				_, err := store.PutItems(t.Context(), storage.Batch{FeedID: feed, Items: []storage.Item{changed}})
				return err
			},
			func(t *testing.T, index storage.Index) {
				if got := find(t, index, "bees"); !slices.Equal(got, []string{changed.ID}) || len(find(t, index, "number1")) > 0 {
					t.Errorf("got %v for the words of the revision, want that item, and none for the old words", got)
				}
			},
		},
		"a deletion": {
			func(t *testing.T, store storage.Store) error {
				_, err := store.RemoveFeed(t.Context(), feed)
				return err
			},
			func(t *testing.T, index storage.Index) {
				if n, err := index.Count(t.Context()); n != 0 || err != nil {
					t.Errorf("got %d items, %v; want none", n, err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, store, ids := indexerOf(t, 3)
			other := *x
			x.index = &overtakenIndex{x.index, func() {
				if err := c.change(t, store); err != nil {
					t.Fatal(err)
				}
				if err := other.ReceiveAll(t.Context(), []subjects.Index{{Reason: "changed", IDs: ids}}); err != nil {
					t.Fatal(err)
				}
			}}
			if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "stored", IDs: ids}}); err != nil {
				t.Fatal(err)
			}
			c.want(t, x.index)
		})
	}
}

// Coverage has no stamp of its own: a story may grow between the read of the store and the put.
func TestIndexer_CoverageThatGrowsMeanwhile(t *testing.T) {
	for sources, want := range map[int][]int{
		3: {2},    // ranked as before
		4: {2, 4}, // twice as many
	} {
		x, store, _ := indexerOf(t, 0)
		item := worktest.Item(storage.FeedID(worktest.Blog), "told", "", "")
		item.StoryID = "story"
		_, err := store.PutItems(t.Context(), storage.Batch{FeedID: item.FeedID, Items: []storage.Item{item}})
		put := func(sources int) error {
			return store.PutStories(t.Context(), storage.Fence{}, nil, []storage.Story{{ID: "story", Sources: sources}}, nil)
		}
		if err := errors.Join(err, put(2)); err != nil {
			t.Fatal(err)
		}
		index := &keepingIndex{}
		x.index = &overtakenIndex{index, func() {
			if err := put(sources); err != nil {
				t.Fatal(err)
			}
		}}
		if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "stored", IDs: []string{item.ID}}}); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, one := range index.put {
			got = append(got, one.Sources)
		}
		if !slices.Equal(got, want) {
			t.Errorf("grown to %d sources: got puts with %v sources, want %v", sources, got, want)
		}
	}
}

// A queuingIndex accepts each put at once and applies it later: meanwhile is called in between.
type queuingIndex struct {
	storage.Index
	meanwhile func()
}

func (q *queuingIndex) Put(ctx context.Context, items ...storage.IndexItem) error {
	storage.ReportAccepted(ctx)
	q.meanwhile()
	return q.Index.Put(ctx, items...)
}

// What changes while the engine has the put in its queue has a task of its own, so the put is not repeated.
func TestIndexer_ChangeAfterThePutWasAccepted(t *testing.T) {
	x, store, ids := indexerOf(t, 3)
	index := &keepingIndex{}
	x.index = &queuingIndex{index, func() {
		if _, err := store.RemoveFeed(t.Context(), storage.FeedID(worktest.Blog)); err != nil {
			t.Fatal(err)
		}
	}}
	if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "stored", IDs: ids}}); err != nil {
		t.Fatal(err)
	}
	if len(index.put) != len(ids) {
		t.Errorf("got %d puts of %d items, want one of each", len(index.put), len(ids))
	}
}

func TestIndexer_IntervalOfAgents(t *testing.T) {
	x, _, ids := indexerOf(t, 3)
	x.agents = func() int { return 4 }
	began := time.Now()
	if err := x.ReceiveAll(t.Context(), []subjects.Index{{Reason: "stored", IDs: ids, Fetched: worktest.Noon}}); err != nil {
		t.Fatal(err)
	}
	if wait := x.Next().Sub(began); wait < 4*minBatchInterval || x.Next().After(time.Now().Add(4*minBatchInterval)) {
		t.Errorf("got the next batch %v after the start of this one, want 1.6 s", wait)
	}
}

func TestIndexer_StoriesDoNotDelayDocuments(t *testing.T) {
	story := subjects.Index{Reason: "story of 128 sources", IDs: make([]string, 400)}
	document := subjects.Index{Reason: "stored", IDs: make([]string, 8), Fetched: worktest.Noon}
	if n := fetchedItems([]subjects.Index{story, document}); n != 8 {
		t.Errorf("got %d fetched items, want 8", n)
	}
}

func TestIndexer_BatchesGrowWithTheBacklog(t *testing.T) {
	for n, want := range map[int]time.Duration{
		0: 400 * time.Millisecond, 20: 400 * time.Millisecond, 50: 500 * time.Millisecond, 100: 750 * time.Millisecond, 300: 1750 * time.Millisecond, 350: 2 * time.Second, 700: 2 * time.Second, 1999: 2 * time.Second, 2000: 0,
	} {
		if got := batchInterval(n, 2000); got != want {
			t.Errorf("after a batch of %d items: got the next after %v, want %v", n, got, want)
		}
	}
}
