package role

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/mesh"
	"feedmesh/agent/tell"
	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Cluster finds duplicates, events and stories, and tells of the stories.
var Cluster = Role{
	Name:  "cluster",
	Does:  "finds duplicates, events and stories; one is active for each language, others stand by",
	Store: true,
	Run: func(ctx context.Context, env *Env) error {
		var group errgroup.Group
		for _, lane := range subjects.Languages {
			group.Go(func() error {
				return env.Mesh.Single(ctx, "cluster-"+lane, func(ctx context.Context) error {
					return newClusterer(env, lane).run(ctx, env.Mesh)
				})
			})
		}
		group.Go(func() error {
			return env.Mesh.Single(ctx, "stories", newTeller(env).run)
		})
		return group.Wait()
	},
}

// maxLive bounds how many items a clusterer remembers: near duplicates take some
// 540 bytes an item, stories some 3 KB.
const maxLive = 1_000_000

// tickEvery is how often stories are looked at when no items come.
const tickEvery = 15 * time.Second

// clusterer is the one active cluster actor of its language. It alone places
// items, in the order in which they come, so what it remembers is all it needs.
type clusterer struct {
	lane    string
	window  time.Duration
	store   storage.Store
	out     subjects.Publisher
	clock   Clock
	fence   storage.Fence
	metrics *Metrics
	log     *slog.Logger

	settings near.Settings
	weights  story.Weights
	limits   story.Limits
	mu       sync.Mutex // of what follows
	near     *near.Index
	stories  *story.Clusters
	undone   storage.Rearrangement // what the store is yet to be told
	told     int                   // rearrangements of the store
}

func newClusterer(env *Env, lane string) *clusterer {
	window := env.Config.Cluster.Window
	settings := near.Default()
	settings.Window, settings.Max = window, maxLive
	weights, limits := story.Default(), story.DefaultLimits()
	limits.Window, limits.Items = window, maxLive
	return &clusterer{
		lane: lane, window: window, store: env.Store, out: env.Mesh, clock: env.Clock, metrics: env.Metrics, log: env.Log,
		settings: settings, weights: weights, limits: limits, near: near.NewIndex(settings),
		stories: story.New(weights, limits, story.IDs{Event: storage.EventID, Story: storage.StoryID}),
	}
}

func (c *clusterer) run(ctx context.Context, m *mesh.Mesh) error {
	defer c.metrics.forgetLive(c.lane)
	if err := c.takeOver(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return mesh.Serve(ctx, m, subjects.Clusters, c.lane, c, 1) })
	group.Go(func() error { return every(ctx, tickEvery, c.tick) })
	return group.Wait()
}

// Receive places a document's items, or does what a person decided.
func (c *clusterer) Receive(ctx context.Context, task subjects.Cluster) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if task.Hand != nil {
		return c.doByHand(ctx, *task.Hand)
	}
	for i := range task.Items {
		c.place(&task.Items[i])
	}
	if err := c.rearrange(ctx); err != nil {
		return err
	}
	return subjects.Publish(ctx, c.out, subjects.Stores, subjects.Store{
		Document: task.Document, Fence: c.fence, Items: task.Items,
	})
}

// place finds what an item repeats, and where it belongs. Spam stands alone: it
// would draw other items to itself.
func (c *clusterer) place(item *storage.Item) {
	if item.Spam {
		tell.Put(item, near.Placed{}, alone(item.ID))
		return
	}
	plain := text.Plain(item.HTML)
	repeats := c.near.Place(tell.Mark(*item, plain, &c.settings))
	if repeats.Of != "" {
		c.metrics.duplicates.Inc()
	}
	item.DuplicateOf = repeats.Of
	tell.Put(item, repeats, c.stories.Place(tell.Item(*item, plain)))
}

// alone returns the place of an item with an event and a story of its own.
func alone(itemID string) story.Placement {
	event := storage.EventID(itemID)
	return story.Placement{EventID: event, StoryID: storage.StoryID(event), Why: story.Why{By: "first"}}
}

// tick looks at stories though no items come.
func (c *clusterer) tick(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metrics.live(c.lane, c.near.Len(), c.stories)
	if err := c.rearrange(ctx); err != nil && ctx.Err() == nil {
		c.log.Warn("can't tell the store which stories are one", "lane", c.lane, "err", err)
	}
	return nil
}
