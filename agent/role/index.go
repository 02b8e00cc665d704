package role

import (
	"context"
	"fmt"
	"slices"

	"feedmesh/agent/mesh"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Index makes items findable.
var Index = Role{
	Name:  "index",
	Does:  "makes items findable, many at a time",
	Store: true,
	Index: true,
	Run: func(ctx context.Context, env *Env) error {
		x := &indexer{items: env.Store, index: env.Index, clock: env.Clock, metrics: env.Metrics}
		return mesh.ServeBatch(ctx, env.Mesh, subjects.Indexes, "", x, indexTasks)
	},
}

// indexTasks is the most tasks, indexItems the most items put at once. The more
// there is to do, the larger the batches get, and the cheaper each item.
const (
	indexTasks = 100
	indexItems = 1000
)

// indexer makes the index agree with the store about the items it is told of.
// It reads them from the store, so that it does not matter in which order the
// tasks come, or how often.
type indexer struct {
	items   storage.Items
	index   storage.Index
	clock   Clock
	metrics *Metrics
}

func (x *indexer) ReceiveAll(ctx context.Context, tasks []subjects.Index) error {
	var ids []string
	for _, t := range tasks {
		ids = append(ids, t.IDs...)
	}
	slices.Sort(ids)
	for chunk := range slices.Chunk(slices.Compact(ids), indexItems) {
		if err := x.agree(ctx, chunk); err != nil {
			return err
		}
	}
	now := x.clock.Now()
	for _, t := range tasks {
		if !t.Since.IsZero() {
			x.metrics.indexLag.Observe(now.Sub(t.Since).Seconds())
		}
	}
	return nil
}

func (x *indexer) agree(ctx context.Context, ids []string) error {
	items, err := x.items.Items(ctx, ids...)
	if err != nil {
		return fmt.Errorf("read %d items to index: %w", len(ids), err)
	}
	stored := make(map[string]bool, len(items))
	docs := make([]storage.Indexed, 0, len(items))
	for _, item := range items {
		stored[item.ID] = true
		docs = append(docs, storage.Indexed{Item: item, Text: text.Plain(item.HTML)})
	}
	gone := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return stored[id] })
	if len(gone) > 0 {
		if err := x.index.Delete(ctx, gone...); err != nil {
			return fmt.Errorf("take %d items out of the index: %w", len(gone), err)
		}
	}
	if len(docs) > 0 {
		if err := x.index.Put(ctx, docs...); err != nil {
			return fmt.Errorf("index %d items: %w", len(docs), err)
		}
	}
	x.metrics.indexed.Add(float64(len(docs)))
	return nil
}
