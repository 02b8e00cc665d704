package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// takeOver makes this process the active clusterer. It first fences off late writes of its predecessor, then
// loads the window's items and the manual edits.
func (c *clusterer) takeOver(ctx context.Context) error {
	began := time.Now()
	var err error
	if c.fence, err = c.store.NextFence(ctx, subjects.ClusterLease(c.partition)); err != nil {
		return fmt.Errorf("take over clustering of %s: %w", c.partition, err)
	}
	n, err := c.loadWindow(ctx, c.clock.Now().Add(-c.window))
	if err != nil {
		return fmt.Errorf("load the window of %s: %w", c.partition, err)
	}
	if err := c.loadEdits(ctx); err != nil {
		return fmt.Errorf("load manual edits of %s: %w", c.partition, err)
	}
	if err := c.rearrange(ctx); err != nil { // what its predecessor had no time for
		return err
	}
	c.metrics.setWindow(c.partition, c.window, c.near, c.stories)
	c.log.Debug("cluster active", "language", c.partition, "items", n, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// pageItems is the number of items in a page, and maxPagesAhead bounds the buffered pages.
const (
	pageItems     = 1000
	maxPagesAhead = 4
)

// An extractedItem is an item with its features.
type extractedItem struct {
	storage.Item
	features
}

// loadWindow loads the partition's items since a time into memory. Workers compute the features of the next
// pages while one worker adds a page. The store may have more events than limits.Events: items of the
// excess events are used for duplicate detection only, because their events would be evicted again.
func (c *clusterer) loadWindow(ctx context.Context, since time.Time) (n int, err error) {
	ids, err := c.store.RecentEvents(ctx, c.partition, since, c.limits.Events)
	if err != nil {
		return 0, err
	}
	live := make(map[string]bool, len(ids))
	for _, id := range ids {
		live[id] = true
	}
	group, ctx := errgroup.WithContext(ctx)
	pages := make(chan chan []extractedItem, maxPagesAhead)
	group.Go(func() error {
		defer close(pages)
		var readers errgroup.Group
		readers.SetLimit(runtime.GOMAXPROCS(0))
		defer readers.Wait()
		return c.eachPage(ctx, since, ids, func(items []storage.Item) error {
			page := make(chan []extractedItem, 1)
			readers.Go(func() error {
				page <- c.extractPage(items, live)
				return nil
			})
			select {
			case pages <- page:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	group.Go(func() error {
		for page := range pages {
			for _, item := range <-page {
				c.near.Restore(item.mark, placement.MatchOf(item.Item))
				if live[item.EventID] {
					c.stories.Restore(item.item, placement.PlacementOf(item.Item))
				}
				n++
			}
		}
		return nil
	})
	return n, group.Wait()
}

// eachPage calls do with pages of all items to load, oldest first: the items since a time, and earlier items
// of events in the window, because an event stays for the length of the window after its last item.
func (c *clusterer) eachPage(ctx context.Context, since time.Time, events []string, do func([]storage.Item) error) error {
	for _, read := range []func(last storage.Item) ([]storage.Item, error){
		func(last storage.Item) ([]storage.Item, error) {
			earlier := storage.ItemQuery{Partition: c.partition, Events: append([]string{}, events...), From: since.Add(-c.window), Until: since}
			return c.store.ListItems(ctx, earlier, last, pageItems)
		},
		func(last storage.Item) ([]storage.Item, error) {
			return c.store.ListItems(ctx, storage.ItemQuery{Partition: c.partition, From: since}, last, pageItems)
		},
	} {
		for last := (storage.Item{}); ; {
			items, err := read(last)
			if err != nil {
				return err
			}
			if len(items) == 0 {
				break
			}
			last = items[len(items)-1]
			if err := do(items); err != nil {
				return err
			}
		}
	}
	return nil
}

// extractPage computes the features of a page's items without spam, which is not loaded.
func (c *clusterer) extractPage(items []storage.Item, live map[string]bool) []extractedItem {
	page := make([]extractedItem, 0, len(items))
	for _, i := range items {
		if i.Spam {
			continue
		}
		words := c.extract(i, live[i.EventID] && i.DuplicateOf == "")
		i.HTML = ""
		page = append(page, extractedItem{i, words})
	}
	return page
}

// manualEdits are the manual edits of a partition's items in the window, for its next active clusterer.
type manualEdits struct {
	Items  []near.Override  `json:"items,omitempty"`
	Events []story.Override `json:"events,omitempty"`
}

// editsNote returns the name of the note that stores a partition's manual edits.
func (c *clusterer) editsNote() string { return "hands-" + c.partition }

func (c *clusterer) loadEdits(ctx context.Context) error {
	note, err := storage.Notes(c.store).Read(ctx, c.editsNote())
	if err != nil || note == nil {
		return err
	}
	var h manualEdits
	if err := json.Unmarshal(note, &h); err != nil {
		return err
	}
	for _, edit := range h.Items {
		c.near.AddOverride(edit)
	}
	for _, edit := range h.Events {
		c.stories.AddOverride(edit)
	}
	return nil
}
