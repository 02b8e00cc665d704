// Package cluster is the role that finds duplicates, events and stories, and summarizes stories.
package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/role/work"
	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/classify/text"
	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Run places the items of each language for which this process is the active one in the mesh, and summarizes
// stories, until ctx ends.
func Run(ctx context.Context, env *work.Env) error {
	if err := os.RemoveAll(windowFolder(env.Config.Data)); err != nil {
		env.Log.Warn("files of the last process not removed", "err", err)
	}
	m := newMetrics(env.Metrics)
	var group errgroup.Group
	for _, partition := range subjects.Languages {
		group.Go(func() error {
			return env.Mesh.Single(ctx, subjects.ClusterLease(partition), func(ctx context.Context) error {
				return newClusterer(env, env.Mesh, m, partition).run(ctx, env.Mesh)
			})
		})
	}
	group.Go(func() error {
		return env.Mesh.Single(ctx, "stories", newStorySummarizer(env).run)
	})
	return group.Wait()
}

// Memory of a clusterer: near duplicates take some ItemBytes an item, and 250 bytes in files; stories some EventBytes an
// event with its items.
const (
	ItemBytes  = 170
	EventBytes = 3000
)

// maxItems returns the maximum number of items in the memory of a clusterer: they take at most half of it. Events get what the
// items do not use.
func maxItems(memory config.Bytes) int { return int(memory / 2 / ItemBytes) }

// maxEvents returns the maximum number of events in the memory of a clusterer, beside a number of items.
func maxEvents(memory config.Bytes, items int) int {
	return (int(memory) - items*ItemBytes) / EventBytes
}

// Items of archives, which come with a new feed, form stories of their own time. Only the last ones of them are in
// memory: they come in no order, and many publishers' archives seldom at once. They are not loaded after a takeover.
const (
	maxArchiveEvents = 5_000
	maxArchiveItems  = 20_000
	archiveWindow    = 100 * 365 * 24 * time.Hour // no archive is older
)

// tickEvery is the interval of story maintenance without new items.
const tickEvery = 15 * time.Second

// clusterer is the active cluster actor of its language. It alone places items, in the order of their
// arrival, so its memory is complete and needs no reads from the store.
type clusterer struct {
	partition string
	window    time.Duration
	memory    config.Bytes
	store     storage.Store
	out       subjects.Publisher
	clock     work.Clock
	fence     storage.Fence
	metrics   *metrics
	log       *slog.Logger

	settings   near.Settings
	weights    story.Weights
	limits     story.Limits
	mu         sync.Mutex // protects the fields below
	near       *near.Index
	stories    *story.Clusters
	archive    *story.Clusters       // of items that were older than the window when they were first seen
	pending    storage.Rearrangement // changes to be written to the store
	rearranged int                   // number of rearrangements written

	stop     func() // ends run
	spillErr string // the last reported error of writing the window's files
}

func newClusterer(env *work.Env, out subjects.Publisher, m *metrics, partition string) *clusterer {
	window, memory := env.Config.Cluster.Window, env.Config.Cluster.Memory
	settings := near.Default()
	settings.Window, settings.MaxItems = window, maxItems(memory)
	weights := story.Default()
	limits := story.Limits{Events: maxEvents(memory, 0), Items: settings.MaxItems, Window: window, Reach: window}
	ids := story.IDs{Event: storage.EventID, Story: storage.StoryID}
	index := near.NewIndex(settings)
	index.Spill(newWindowFile(windowFolder(env.Config.Data)))
	return &clusterer{
		partition: partition, window: window, memory: memory, store: env.Store, out: out, clock: env.Clock, metrics: m, log: env.Log,
		settings: settings, weights: weights, limits: limits, near: index, stop: func() {},
		stories: story.New(weights, limits, ids),
		archive: story.New(weights, story.Limits{Events: maxArchiveEvents, Items: maxArchiveItems, Window: archiveWindow, Reach: window}, ids),
	}
}

func (c *clusterer) run(ctx context.Context, m *mesh.Mesh) error {
	defer c.metrics.clearWindow(c.partition)
	defer c.near.Close()
	if err := c.takeOver(ctx); err != nil {
		return err
	}
	ctx, c.stop = context.WithCancel(ctx)
	defer c.stop()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return mesh.Serve(ctx, m, subjects.ClusterQueue, c.partition, c, 1) })
	group.Go(func() error { return work.RepeatEvery(ctx, tickEvery, c.tick) })
	if err := group.Wait(); err != nil {
		return err
	}
	return c.checkWindow()
}

// checkWindow returns an error if files of the window can't be read. The clusterer stops then, and the next one loads
// the window from the store.
func (c *clusterer) checkWindow() error {
	if err := c.near.Err(); err != nil {
		c.stop()
		return fmt.Errorf("read the window's files: %w", err)
	}
	return nil
}

// Receive places a document's items, or applies a manual edit.
func (c *clusterer) Receive(ctx context.Context, task subjects.Cluster) error {
	if task.Override != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.applyEdit(ctx, *task.Override)
	}
	found := c.extractAll(task.Items)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range task.Items {
		c.place(&task.Items[i], found[i])
	}
	if err := c.checkWindow(); err != nil {
		return mesh.RetryAfter(time.Second, err)
	}
	if err := c.rearrange(ctx); err != nil {
		return err
	}
	return subjects.Publish(ctx, c.out, subjects.StoreQueue, subjects.Store{
		Document: task.Document, Fence: c.fence, Items: task.Items,
	})
}

// place finds the original that an item duplicates, its event and its story. Spam gets a story of its own,
// because it would attract other items.
func (c *clusterer) place(item *storage.Item, words features) {
	if item.Spam {
		placement.Apply(item, near.Match{}, ownPlacement(item.ID))
		return
	}
	repeats := c.near.Place(words.mark)
	if repeats.DuplicateOf != "" {
		c.metrics.duplicates.Inc()
	}
	words.item.DuplicateOf = repeats.DuplicateOf
	stories := c.stories
	if placement.Archived(*item, c.window) {
		stories = c.archive
	}
	placement.Apply(item, repeats, stories.Place(words.item))
}

// features are the inputs of duplicate detection and placement, computed from an item's text.
type features struct {
	mark near.Signature
	item story.Item
}

// extract computes the features of an item; those for placement in an event only if forPlacement is set. It
// may be called concurrently.
func (c *clusterer) extract(i storage.Item, forPlacement bool) features {
	plain := text.PlainText(i.HTML)
	w := features{mark: placement.Signature(i, plain, &c.settings), item: placement.StoryItem(i, plain)}
	if forPlacement {
		w.item.Features = c.weights.Extract(w.item)
	}
	return w
}

// itemsPerWorker is the number of a document's items from which another worker is used.
const itemsPerWorker = 4

// extractAll computes the features of all items except spam, with several workers if the items are many.
func (c *clusterer) extractAll(items []storage.Item) []features {
	all := make([]features, len(items))
	var group errgroup.Group
	group.SetLimit(max(1, min(len(items)/itemsPerWorker, runtime.GOMAXPROCS(0))))
	for i, item := range items {
		if !item.Spam {
			group.Go(func() error {
				all[i] = c.extract(item, true)
				return nil
			})
		}
	}
	group.Wait()
	return all
}

// ownPlacement returns the placement of an item with an event and a story of its own.
func ownPlacement(itemID string) story.Placement {
	event := storage.EventID(itemID)
	return story.Placement{EventID: event, StoryID: storage.StoryID(event), Reason: story.Reason{By: "first"}}
}

// maxEvents returns the maximum number of events at present.
func (c *clusterer) maxEvents() int { return maxEvents(c.memory, c.near.Len()) }

// tick maintains stories when no items arrive.
func (c *clusterer) tick(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stories.Limit(c.maxEvents())
	c.metrics.setWindow(c.partition, c.window, c.near, c.stories)
	mesh.ReportLimit(ctx, c.windowLimit())
	c.reportSpill()
	if err := c.rearrange(ctx); err != nil && ctx.Err() == nil {
		c.log.Warn("story rearrangement failed", "language", c.partition, "err", err)
	}
	return nil
}

// reportSpill logs an error of writing the window's files once: the items stay in memory.
func (c *clusterer) reportSpill() {
	text := ""
	if _, err := c.near.Spilled(); err != nil {
		text = err.Error()
	}
	if text != "" && text != c.spillErr {
		c.log.Warn("older items stay in memory, because they can't be written to files", "language", c.partition, "err", text)
	}
	c.spillErr = text
}
