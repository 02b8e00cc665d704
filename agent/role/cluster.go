package role

import (
	"context"
	"log/slog"
	"runtime"
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
	if task.Hand != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.doByHand(ctx, *task.Hand)
	}
	words := c.readAll(task.Items)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range task.Items {
		c.place(&task.Items[i], words[i])
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
func (c *clusterer) place(item *storage.Item, words words) {
	if item.Spam {
		tell.Put(item, near.Placed{}, alone(item.ID))
		return
	}
	repeats := c.near.Place(words.mark)
	if repeats.Of != "" {
		c.metrics.duplicates.Inc()
	}
	words.item.Repeats = repeats.Of
	tell.Put(item, repeats, c.stories.Place(words.item))
}

// words are what an item says.
type words struct {
	mark near.Mark
	item story.Item
}

// read reads the words of an item; those by which it finds its event, only if it
// says what that is about. It may be called concurrently.
func (c *clusterer) read(i storage.Item, says bool) words {
	plain := text.Plain(i.HTML)
	w := words{mark: tell.Mark(i, plain, &c.settings), item: tell.Item(i, plain)}
	if says {
		w.item.Read = c.weights.Read(w.item)
	}
	return w
}

// fewItems is how many items of a document are read one after another.
const fewItems = 4

// readAll reads the words of items, of many side by side, but for spam.
func (c *clusterer) readAll(items []storage.Item) []words {
	all := make([]words, len(items))
	var group errgroup.Group
	group.SetLimit(max(1, min(len(items)/fewItems, runtime.GOMAXPROCS(0))))
	for i, item := range items {
		if !item.Spam {
			group.Go(func() error {
				all[i] = c.read(item, true)
				return nil
			})
		}
	}
	group.Wait()
	return all
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
