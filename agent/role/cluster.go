package role

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/classify/near"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Cluster finds duplicates, events and stories.
var Cluster = Role{
	Name:  "cluster",
	Does:  "finds duplicates, events and stories; one is active for each language, others stand by",
	Store: true,
	Run: func(ctx context.Context, env *Env) error {
		var group errgroup.Group
		for _, lane := range subjects.Languages {
			group.Go(func() error {
				return env.Mesh.Single(ctx, "cluster-"+lane, func(ctx context.Context) error {
					c := &clusterer{
						lane: lane, store: env.Store, out: env.Mesh, metrics: env.Metrics, log: env.Log,
						near: near.NewExact(env.Config.Cluster.Window, maxMarks),
					}
					if err := c.remember(ctx, env.Clock.Now().Add(-env.Config.Cluster.Window)); err != nil {
						return err
					}
					return mesh.Serve(ctx, env.Mesh, subjects.Clusters, lane, c, 1)
				})
			})
		}
		return group.Wait()
	},
}

// maxMarks bounds what a clusterer remembers, at some 300 bytes an item.
const maxMarks = 1_000_000

// clusterer is the one active cluster actor of its language. It alone places
// items, in the order in which they come, so what it remembers is all it needs.
type clusterer struct {
	lane    string
	store   storage.Store
	out     subjects.Publisher
	near    *near.Exact
	fence   storage.Fence
	metrics *Metrics
	log     *slog.Logger
}

// remember takes over from whoever was active before: first it fences off what
// that one may still be writing, then it reads back what was placed since.
func (c *clusterer) remember(ctx context.Context, since time.Time) error {
	var err error
	if c.fence, err = c.store.NextFence(ctx, "cluster-"+c.lane); err != nil {
		return fmt.Errorf("take over clustering of %s: %w", c.lane, err)
	}
	var last storage.Item
	for n := 0; ; {
		page, err := c.store.ItemsSince(ctx, c.lane, since, last, 1000)
		if err != nil {
			return fmt.Errorf("read back items in %s: %w", c.lane, err)
		}
		if len(page) == 0 {
			c.log.Debug("cluster is active", "lane", c.lane, "items", n)
			return nil
		}
		for _, item := range page {
			c.near.Remember(mark(item), near.Placed{Of: item.DuplicateOf, By: item.DuplicateBy})
		}
		n += len(page)
		last = page[len(page)-1]
	}
}

func (c *clusterer) Receive(ctx context.Context, task subjects.Cluster) error {
	for i := range task.Items {
		c.place(&task.Items[i])
	}
	return subjects.Publish(ctx, c.out, subjects.Stores, subjects.Store{
		Document: task.Document, Fence: c.fence, Items: task.Items,
	})
}

// place finds what an item repeats. Items that repeat each other are one
// event, and, as yet, an event is a story of its own.
func (c *clusterer) place(item *storage.Item) {
	placed := c.near.Place(mark(*item))
	item.DuplicateOf, item.DuplicateBy = placed.Of, placed.By
	first := item.ID
	if placed.Of != "" {
		first = placed.Of
		c.metrics.duplicates.Inc()
	}
	item.EventID = storage.EventID(first)
	item.StoryID = storage.StoryID(item.EventID)
}

func mark(item storage.Item) near.Mark {
	return near.Mark{
		ItemID: item.ID, FeedID: item.FeedID, Seen: item.FirstSeen,
		URLKey: near.URLKey(item.URL), TextHash: item.TextHash,
	}
}
