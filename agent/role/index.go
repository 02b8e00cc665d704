package role

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Index makes items findable. One process is active, so that a search engine has
// one batch in hand, as large as possible, and not many that wait for one another.
var Index = Role{
	Name:  "index",
	Does:  "makes items findable, many at a time, and keeps the index true to the store; one is active, others stand by",
	Store: true,
	Index: true,
	Run: func(ctx context.Context, env *Env) error {
		x := &indexer{items: env.Store, index: env.Index, out: env.Mesh, clock: env.Clock, metrics: env.Metrics}
		r := &reconciler{
			store: env.Store, index: env.Index, mesh: env.Mesh, clock: env.Clock, log: env.Log, metrics: env.Metrics,
		}
		var group errgroup.Group
		group.Go(func() error {
			return env.Mesh.Single(ctx, "index", func(ctx context.Context) error {
				return mesh.ServeBatch(ctx, env.Mesh, subjects.Indexes, "", x, 1)
			})
		})
		group.Go(func() error { return env.Mesh.Single(ctx, "reconcile", r.run) })
		return group.Wait()
	},
}

// The more there is to do, the larger the batches get, and the cheaper each item:
// what comes one by one is merged, and so written, again and again.
const (
	indexItems  = 2000                   // a batch has at most
	indexEvery  = 250 * time.Millisecond // from the begin of a small batch to that of the next
	indexSeldom = 2 * time.Second        // the same of a large one
)

// untilNext returns how long after a batch of n items began the next may begin, so
// that an engine is not busy merging what comes one by one.
func untilNext(n int) time.Duration {
	if n >= indexItems {
		return 0
	}
	return min(indexEvery+indexEvery*time.Duration(n)/50, indexSeldom)
}

// indexer makes the index agree with the store about the items it is told of.
// It reads them from the store, so that it does not matter in which order the
// tasks come, or how often.
type indexer struct {
	items   indexedItems
	index   storage.Index
	out     subjects.Publisher
	clock   Clock
	metrics *Metrics
}

// indexedItems are items, and how much their stories are told.
type indexedItems interface {
	storage.Items
	ToldStories(ctx context.Context, ids ...string) (map[string]storage.Story, error)
}

func (x *indexer) ReceiveAll(ctx context.Context, tasks []subjects.Index) error {
	began := time.Now()
	var ids []string
	for _, t := range tasks {
		ids = append(ids, t.IDs...)
	}
	slices.Sort(ids)
	refused := map[string]error{}
	for chunk := range slices.Chunk(slices.Compact(ids), indexItems) {
		if err := x.agree(ctx, chunk, refused); err != nil {
			return err
		}
	}
	if err := x.setApart(ctx, tasks, refused); err != nil {
		return err
	}
	now := x.clock.Now()
	for _, t := range tasks {
		if !t.Since.IsZero() {
			x.metrics.indexLag.Observe(now.Sub(t.Since).Seconds())
		}
	}
	time.Sleep(time.Until(began.Add(untilNext(len(ids)))))
	return nil
}

// agree makes the index agree with the store about the items, but for those that
// it refuses, which it adds to refused with the reason.
func (x *indexer) agree(ctx context.Context, ids []string, refused map[string]error) error {
	items, err := x.items.Items(ctx, ids...)
	if err != nil {
		return fmt.Errorf("read %d items to index: %w", len(ids), err)
	}
	told, err := x.items.ToldStories(ctx, storiesOf(items)...)
	if err != nil {
		return fmt.Errorf("read the stories of %d items to index: %w", len(ids), err)
	}
	stored := make(map[string]bool, len(items))
	docs := make([]storage.Indexed, 0, len(items))
	for _, item := range items {
		stored[item.ID] = true
		docs = append(docs, storage.Indexed{Item: item, Text: text.Plain(item.HTML), Sources: told[item.StoryID].Sources})
	}
	gone := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return stored[id] })
	if len(gone) > 0 {
		if err := x.index.Delete(ctx, gone...); err != nil {
			return fmt.Errorf("take %d items out of the index: %w", len(gone), err)
		}
	}
	if len(docs) == 0 {
		return nil
	}
	done := len(docs)
	if err := x.index.Put(ctx, docs...); err != nil {
		var some *storage.RefusedError
		if !errors.As(err, &some) {
			return fmt.Errorf("index %d items: %w", len(docs), err)
		}
		for _, id := range some.IDs {
			refused[id] = err
		}
		done -= len(some.IDs)
	}
	x.metrics.indexed.Add(float64(done))
	return nil
}

// storiesOf returns the IDs of the items' stories, each once.
func storiesOf(items []storage.Item) []string {
	var ids []string
	for _, item := range items {
		if item.StoryID != "" {
			ids = append(ids, item.StoryID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// setApart queues a task for each refused item alone, so that it takes no others
// with it. If one of the tasks is such a one already, it fails, and with it the
// rest of the batch: the next attempt has each task by itself.
func (x *indexer) setApart(ctx context.Context, tasks []subjects.Index, refused map[string]error) error {
	for _, t := range tasks {
		if t.Why != refusedWhy {
			continue
		}
		if err := refused[t.IDs[0]]; err != nil {
			return err
		}
	}
	for id := range refused {
		if err := subjects.Publish(ctx, x.out, subjects.Indexes, refusedTask(id)); err != nil {
			return err
		}
	}
	return nil
}

const refusedWhy = "refused"

// refusedTask returns the task to index an item once more that was refused.
func refusedTask(id string) subjects.Index { return subjects.Index{Why: refusedWhy, IDs: []string{id}} }
