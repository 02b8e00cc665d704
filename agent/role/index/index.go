// Package index is the role that keeps the search index, and the members of views, equal to the store.
package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/metric"
	"feedmesh/agent/role/index/members"
	"feedmesh/agent/role/work"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Run updates the search index until ctx ends, as all processes with this role do. While this process is the active one in the
// mesh, it also repairs differences of the index from the store, and finds the views of items.
func Run(ctx context.Context, env *work.Env) error {
	x, r := newIndexer(env, env.Mesh), newReconciler(env)
	x.isAlone, x.agents = env.Mesh.IsAlone(), func() int { return env.Mesh.Serving(subjects.IndexQueue.Name) }
	var group errgroup.Group
	group.Go(func() error { return mesh.ServeBatch(ctx, env.Mesh, subjects.IndexQueue, "", x, 1) })
	group.Go(func() error { return env.Mesh.Single(ctx, "reconcile", r.run) })
	group.Go(func() error { return members.Run(ctx, env) })
	return group.Wait()
}

func newIndexer(env *work.Env, out subjects.Publisher) *indexer {
	return &indexer{
		items: env.Store, index: env.Index, out: out, clock: env.Clock, agents: func() int { return 1 },
		indexed: metric.Counter(env.Metrics, "feedmesh_items_indexed_total", "Items indexed."),
		lag:     metric.Seconds(env.Metrics, "feedmesh_index_lag_seconds", "Time from an item's fetch to its availability in search."),
	}
}

// Batches grow with the backlog up to the size of the index, which makes each item cheaper: single items are merged, and
// so written, again and again. The intervals are those of all agents together, so that many agents index the same batches as one.
const (
	minBatchInterval = 400 * time.Millisecond // from the start of a small batch to that of the next
	maxBatchInterval = 2 * time.Second        // the same for a large batch
)

// fetchedItems returns the number of items of documents in tasks. Those of stories that grew may be hundreds, and must not
// delay the items of the next documents.
func fetchedItems(tasks []subjects.Index) (n int) {
	for _, t := range tasks {
		if !t.Fetched.IsZero() {
			n += len(t.IDs)
		}
	}
	return n
}

// batchInterval returns the minimum time from the start of a batch of n fetched items to that of the next, so that an
// engine does not spend its time merging single items. A full batch needs none.
func batchInterval(n, full int) time.Duration {
	if n >= full {
		return 0
	}
	return min(max(minBatchInterval, 250*time.Millisecond+5*time.Millisecond*time.Duration(n)), maxBatchInterval)
}

// indexer updates the index from the store for the items of its tasks. It reads the items from the store, so
// the order and repetition of tasks have no effect, nor that other agents do the same.
type indexer struct {
	items   indexedItems
	index   storage.Index
	out     subjects.Publisher
	clock   work.Clock
	isAlone bool       // no other agent updates the index
	agents  func() int // number of agents that update it, with this one
	indexed prometheus.Counter
	lag     prometheus.Histogram

	next time.Time // earliest start of the next batch
}

// indexedItems reads items and the coverage of their stories.
type indexedItems interface {
	storage.Items
	StoriesByID(ctx context.Context, ids ...string) (map[string]storage.Story, error)
}

// Next implements [mesh.Paced].
func (x *indexer) Next() time.Time { return x.next }

func (x *indexer) ReceiveAll(ctx context.Context, tasks []subjects.Index) error {
	began := time.Now()
	var ids []string
	for _, t := range tasks {
		n := len(t.IDs)
		if t.Story && x.index.StoriesApart() {
			n = min(n, 1)
		}
		ids = append(ids, t.IDs[:n]...)
	}
	slices.Sort(ids)
	size, concurrent := x.index.Batches()
	rejected, err := x.syncBatches(ctx, slices.Compact(ids), size, concurrent)
	if err != nil {
		return err
	}
	if err := x.isolateRejected(ctx, tasks, rejected); err != nil {
		return err
	}
	now := x.clock.Now()
	for _, t := range tasks {
		if !t.Fetched.IsZero() {
			x.lag.Observe(now.Sub(t.Fetched).Seconds())
		}
	}
	x.next = began.Add(batchInterval(fetchedItems(tasks), size) * time.Duration(x.agents()))
	return nil
}

// syncBatches updates the index from the store for items with different IDs, in batches of a size, some concurrently. It returns
// the rejected items with the error.
func (x *indexer) syncBatches(ctx context.Context, ids []string, size, concurrent int) (rejected map[string]error, err error) {
	var mu sync.Mutex
	rejected = map[string]error{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrent)
	for batch := range slices.Chunk(ids, size) {
		group.Go(func() error {
			refused, err := x.sync(ctx, batch)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(rejected, refused)
			return err
		})
	}
	return rejected, group.Wait()
}

// sync updates the index from the store for items with different IDs. It returns the rejected items with the error.
//
// Another agent may update the index for a later version of an item at the same time, and the engine may accept its put first. So
// sync compares what it has put with the store again, and repeats the update for the items that have changed: whichever put of an
// item is the last, the agent that made it finds out.
func (x *indexer) sync(ctx context.Context, ids []string) (rejected map[string]error, err error) {
	rejected = map[string]error{}
	for len(ids) > 0 {
		for _, id := range ids {
			delete(rejected, id)
		}
		changed, refused, err := x.update(ctx, ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(rejected, refused)
		ids = changed
	}
	return rejected, nil
}

// A version is what the index contains of a stored item.
type version struct {
	changed  time.Time // see [storage.Item]
	story    string    // its ID
	coverage int       // of the story, see [storage.Coverage]
}

// update updates the index from the store for these items. It returns the items that have changed in the store when the engine
// had accepted the update, and the rejected items with the error. Who stores a later change makes a task of it, whose update the
// engine accepts later.
func (x *indexer) update(ctx context.Context, ids []string) (changed []string, rejected map[string]error, err error) {
	items, err := x.items.Items(ctx, ids...)
	if err != nil {
		return nil, nil, fmt.Errorf("read %d items to index: %w", len(ids), err)
	}
	stories, err := x.items.StoriesByID(ctx, storiesOf(items)...)
	if err != nil {
		return nil, nil, fmt.Errorf("read stories of %d items to index: %w", len(ids), err)
	}
	stored := make(map[string]version, len(items))
	docs := make([]storage.IndexItem, 0, len(items))
	for _, item := range items {
		sources := stories[item.StoryID].Sources
		stored[item.ID] = version{item.Changed, item.StoryID, storage.Coverage(sources)}
		docs = append(docs, storage.IndexItem{Item: item, Text: text.PlainText(item.HTML), Sources: sources})
	}
	deleted := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, is := stored[id]; return is })
	if len(deleted) > 0 {
		if err := x.index.Delete(ctx, deleted...); err != nil {
			return nil, nil, fmt.Errorf("delete %d items from the index: %w", len(deleted), err)
		}
	}
	if x.isAlone {
		rejected, err = x.put(ctx, docs)
		return nil, rejected, err
	}
	var compared bool
	var failed error
	compare := func() {
		changed, failed = x.changedSince(ctx, ids, stored)
		compared = true
	}
	if rejected, err = x.put(storage.WithAccepted(ctx, compare), docs); err != nil {
		return nil, nil, err
	}
	if !compared { // an engine without a queue, or only deletions
		compare()
	}
	return changed, rejected, failed
}

// put puts items into the index. It returns the rejected ones with the error.
func (x *indexer) put(ctx context.Context, docs []storage.IndexItem) (rejected map[string]error, err error) {
	if len(docs) == 0 {
		return nil, nil
	}
	indexed := len(docs)
	if err := x.index.Put(ctx, docs...); err != nil {
		var some *storage.RejectedError
		if !errors.As(err, &some) {
			return nil, fmt.Errorf("index %d items: %w", len(docs), err)
		}
		rejected = make(map[string]error, len(some.IDs))
		for _, id := range some.IDs {
			rejected[id] = err
		}
		indexed -= len(some.IDs)
	}
	x.indexed.Add(float64(indexed))
	return rejected, nil
}

// changedSince returns the items that are now stored in other versions than they were, added and deleted ones included.
func (x *indexer) changedSince(ctx context.Context, ids []string, was map[string]version) (changed []string, err error) {
	stamps, err := x.items.ItemStamps(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("compare %d items with the store: %w", len(ids), err)
	}
	var storyIDs []string
	for _, v := range was {
		storyIDs = append(storyIDs, v.story)
	}
	stories, err := x.items.StoriesByID(ctx, distinct(storyIDs)...)
	if err != nil {
		return nil, fmt.Errorf("compare stories of %d items with the store: %w", len(ids), err)
	}
	now := make(map[string]time.Time, len(stamps))
	for _, s := range stamps {
		now[s.ID] = s.Changed
	}
	for _, id := range ids {
		v, existed := was[id]
		at, exists := now[id]
		if exists != existed || !at.Equal(v.changed) || storage.Coverage(stories[v.story].Sources) != v.coverage {
			changed = append(changed, id)
		}
	}
	return changed, nil
}

// storiesOf returns the distinct IDs of the items' stories.
func storiesOf(items []storage.Item) []string {
	var ids []string
	for _, item := range items {
		ids = append(ids, item.StoryID)
	}
	return distinct(ids)
}

// distinct sorts the IDs in place and returns each once, without the empty one.
func distinct(ids []string) []string {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > 0 && ids[0] == "" {
		return ids[1:]
	}
	return ids
}

// isolateRejected publishes a separate task for each rejected item, so that it does not block others. If a
// task of the batch is such a task already, the batch fails, and the retry processes each task by itself.
func (x *indexer) isolateRejected(ctx context.Context, tasks []subjects.Index, rejected map[string]error) error {
	for _, t := range tasks {
		if t.Reason != rejectedReason {
			continue
		}
		if err := rejected[t.IDs[0]]; err != nil {
			return err
		}
	}
	for id := range rejected {
		if err := subjects.Publish(ctx, x.out, subjects.IndexQueue, rejectedTask(id)); err != nil {
			return err
		}
	}
	return nil
}
