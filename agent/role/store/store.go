// Package store is the role that writes items and the feeds' statistics to the store.
package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"feedmesh/agent/fault"
	"feedmesh/agent/mesh"
	"feedmesh/agent/metric"
	"feedmesh/agent/role/store/keep"
	"feedmesh/agent/role/work"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Run stores items, and purges old ones while this process is the active one, until ctx ends.
func Run(ctx context.Context, env *work.Env) error {
	var group errgroup.Group
	group.Go(func() error {
		return mesh.ServeBatch(ctx, env.Mesh, subjects.StoreQueue, "", newStorer(env, env.Mesh), storeWorkers)
	})
	group.Go(func() error { return keep.Run(ctx, env) })
	return group.Wait()
}

// NewActor returns the actor of the store queue, which publishes to out.
func NewActor(env *work.Env, out subjects.Publisher) mesh.Actor[subjects.Store] {
	return newStorer(env, out)
}

func newStorer(env *work.Env, out subjects.Publisher) *storer {
	return &storer{
		items: env.Store, views: &viewCache{of: storage.Views(env.Store)}, out: out,
		stored:    metric.Counter(env.Metrics, "feedmesh_items_stored_total", "New items stored."),
		fencedOff: metric.Counter(env.Metrics, "feedmesh_fenced_off_total", "Writes rejected because a newer writer had taken over."),
	}
}

// storeWorkers is two, so that one worker decodes during the other's transaction.
const storeWorkers = 2

type storer struct {
	items             storage.Items
	views             *viewCache
	out               subjects.Publisher
	stored, fencedOff prometheus.Counter

	mu   sync.Mutex
	next time.Time // earliest time of the next small batch
}

const (
	// maxConcurrentStores bounds the documents stored concurrently, which lets an engine share a sync among
	// them.
	maxConcurrentStores = 32

	// minStoreInterval is the minimum interval of batches with fewer documents: while one waits, more
	// documents arrive for the next. Storing a document alone costs an engine more than twice as much as in a
	// batch, because each transaction writes pages that all of them change. Less frequent batches do not
	// wait.
	minStoreInterval = 20 * time.Millisecond
)

// ReceiveAll stores documents concurrently.
func (k *storer) ReceiveAll(ctx context.Context, tasks []subjects.Store) error {
	if len(tasks) < maxConcurrentStores {
		k.waitTurn(ctx)
	}
	if len(tasks) == 1 {
		return k.Receive(ctx, tasks[0])
	}
	var group errgroup.Group
	group.SetLimit(maxConcurrentStores)
	for _, task := range tasks {
		group.Go(func() error { return k.Receive(ctx, task) })
	}
	return group.Wait()
}

// waitTurn waits until the next small batch may be stored, or until ctx ends.
func (k *storer) waitTurn(ctx context.Context) {
	k.mu.Lock()
	wait := max(time.Until(k.next), 0)
	k.next = time.Now().Add(wait + minStoreInterval)
	k.mu.Unlock()
	if wait > 0 {
		work.Sleep(ctx, wait)
	}
}

func (k *storer) Receive(ctx context.Context, task subjects.Store) error {
	stored, err := k.items.PutItems(ctx, storage.Batch{
		FeedID: task.FeedID, Items: task.Items, Fence: task.Fence,
		Title: task.Title, Site: task.Site, Language: task.Document.Language, Rate: task.Rate,
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return mesh.Discard(err) // the feed was removed while its items were in progress
	case errors.Is(err, storage.ErrFenced):
		k.fencedOff.Inc()
		return k.requeueCluster(ctx, task)
	case err != nil:
		return err
	}
	fault.Point("committed store")
	k.stored.Add(float64(len(stored.New)))

	// All items, not only the new ones: this may be a retry after an attempt that stored them and then
	// failed.
	ids := make([]string, len(task.Items))
	for i, item := range task.Items {
		ids[i] = item.ID
	}
	index := subjects.Index{Reason: "stored " + task.Document.ID(), IDs: ids, Fetched: task.Fetched}
	messages := []subjects.Message{subjects.IndexQueue.Message(index)}
	if k.views.any(ctx) {
		messages = append(messages, subjects.ViewQueue.Message(subjects.View{Index: index}))
	}
	if err := k.out.Publish(ctx, messages...); err != nil {
		return err
	}
	return work.PublishObservation(ctx, k.out, "store", subjects.Observation{
		Receipt: task.Receipt, Outcome: subjects.Stored, Items: len(stored.New), Rate: task.Rate, Dates: task.Dates, Hints: task.Hints, StoreWrites: stored.Writes,
		Malformed: task.Malformed,
	})
}

// requeueCluster returns items that a replaced clusterer has placed to the cluster queue, where its successor
// places them again.
func (k *storer) requeueCluster(ctx context.Context, task subjects.Store) error {
	return subjects.Publish(ctx, k.out, subjects.ClusterQueue, subjects.Cluster{
		Document: task.Document, RejectedFence: task.Fence.Number, Partition: task.Items[0].Partition, Items: task.Items,
	})
}

// viewCacheMaxAge is the maximum age of a [viewCache]. Items that were stored before the first view was noticed are found when
// the members of the view are filled in.
const viewCacheMaxAge = time.Second

// A viewCache caches whether there is a view. Without one, no view tasks are written to disk.
type viewCache struct {
	of storage.ViewRecords

	mu     sync.Mutex
	exists bool
	read   time.Time
}

// any reports whether there is a view, or may be.
func (c *viewCache) any(ctx context.Context) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.read.IsZero() && time.Since(c.read) < viewCacheMaxAge {
		return c.exists
	}
	exists, err := c.of.Any(ctx)
	if err != nil {
		return true
	}
	c.exists, c.read = exists, time.Now()
	return exists
}
