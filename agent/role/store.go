package role

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/fault"
	"feedmesh/agent/mesh"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Store keeps items.
var Store = Role{
	Name:  "store",
	Does:  "keeps items and the feeds' statistics, all of a document or nothing",
	Store: true,
	Run: func(ctx context.Context, env *Env) error {
		k := &keeper{items: env.Store, out: env.Mesh, metrics: env.Metrics}
		return mesh.ServeBatch(ctx, env.Mesh, subjects.Stores, "", k, storeWorkers)
	},
}

// storeWorkers is two, so that one decodes while the other's transaction is
// under way.
const storeWorkers = 2

type keeper struct {
	items   storage.Items
	out     subjects.Publisher
	metrics *Metrics

	mu   sync.Mutex
	next time.Time // when the next hand may be stored
}

const (
	// sideBySide is how many documents are stored at once, for an engine to have
	// them share a sync.
	sideBySide = 32

	// storeEvery is how often hands are stored that have fewer documents: while one
	// waits, more come for the next. A document that is stored alone costs an engine
	// more than twice as much as one of many, as each writes pages that all change.
	// What comes less often than this does not wait.
	storeEvery = 20 * time.Millisecond
)

// ReceiveAll stores documents side by side.
func (k *keeper) ReceiveAll(ctx context.Context, tasks []subjects.Store) error {
	if len(tasks) < sideBySide {
		k.await(ctx)
	}
	if len(tasks) == 1 {
		return k.Receive(ctx, tasks[0])
	}
	var group errgroup.Group
	group.SetLimit(sideBySide)
	for _, task := range tasks {
		group.Go(func() error { return k.Receive(ctx, task) })
	}
	return group.Wait()
}

// await waits for the turn of a hand, or until ctx ends.
func (k *keeper) await(ctx context.Context) {
	k.mu.Lock()
	wait := max(time.Until(k.next), 0)
	k.next = time.Now().Add(wait + storeEvery)
	k.mu.Unlock()
	if wait > 0 {
		pause(ctx, wait)
	}
}

func (k *keeper) Receive(ctx context.Context, task subjects.Store) error {
	stored, err := k.items.PutItems(ctx, storage.Batch{
		FeedID: task.FeedID, Items: task.Items, Fence: task.Fence,
		Title: task.Title, Site: task.Site, Language: task.Document.Language, Rate: task.Rate,
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return mesh.Drop(err) // somebody removed the feed while its items were under way
	case errors.Is(err, storage.ErrFenced):
		k.metrics.fencedOff.Inc()
		return k.clusterAgain(ctx, task)
	case err != nil:
		return err
	}
	fault.Point("committed store")
	k.metrics.stored.Add(float64(len(stored.New)))

	// All of them, not only the new ones: this may be the second attempt, after
	// a first one that stored them and then died.
	ids := make([]string, len(task.Items))
	for i, item := range task.Items {
		ids[i] = item.ID
	}
	if err := subjects.Publish(ctx, k.out, subjects.Indexes, subjects.Index{
		Why: "stored " + task.Document.ID(), IDs: ids, Since: task.Fetched,
	}); err != nil {
		return err
	}
	return observe(ctx, k.out, "store", subjects.Observation{
		Receipt: task.Receipt, Outcome: subjects.Stored, Items: len(stored.New), Rate: task.Rate, Dates: task.Dates, Hints: task.Hints,
		Malformed: task.Malformed,
	})
}

// clusterAgain gives items back that were placed by a cluster actor which had
// been replaced: its successor places them by what it knows.
func (k *keeper) clusterAgain(ctx context.Context, task subjects.Store) error {
	return subjects.Publish(ctx, k.out, subjects.Clusters, subjects.Cluster{
		Document: task.Document, Again: task.Fence.Number, Lane: task.Items[0].Lane, Items: task.Items,
	})
}
