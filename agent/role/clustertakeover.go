package role

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/tell"
	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/storage"
)

// takeOver takes over from whoever was active before: first it fences off what
// that one may still be writing, then it reads back what was placed since, and what
// people decided.
func (c *clusterer) takeOver(ctx context.Context) error {
	began := time.Now()
	var err error
	if c.fence, err = c.store.NextFence(ctx, "cluster-"+c.lane); err != nil {
		return fmt.Errorf("take over clustering of %s: %w", c.lane, err)
	}
	n, err := c.readBack(ctx, c.clock.Now().Add(-c.window))
	if err != nil {
		return fmt.Errorf("read back items in %s: %w", c.lane, err)
	}
	if err := c.recallHands(ctx); err != nil {
		return fmt.Errorf("read back what people decided in %s: %w", c.lane, err)
	}
	if err := c.rearrange(ctx); err != nil { // what its predecessor had no time for
		return err
	}
	c.metrics.live(c.lane, c.near.Len(), c.stories)
	c.log.Debug("cluster is active", "lane", c.lane, "items", n, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// pageItems is how many items are read back at once, and pagesAhead how many such
// pages are in memory at most.
const (
	pageItems  = 1000
	pagesAhead = 4
)

// A readItem is an item with what is made of its words.
type readItem struct {
	storage.Item
	words
}

// readBack remembers what the store has of the lane since a time. While one page
// is remembered, which only one goroutine may do, the words of the next ones are
// read by others. Of events there may be more than are remembered: the items of
// those that would be forgotten again are looked at for what they repeat only.
func (c *clusterer) readBack(ctx context.Context, since time.Time) (n int, err error) {
	ids, err := c.store.LiveEvents(ctx, c.lane, since, c.limits.Events)
	if err != nil {
		return 0, err
	}
	live := make(map[string]bool, len(ids))
	for _, id := range ids {
		live[id] = true
	}
	group, ctx := errgroup.WithContext(ctx)
	pages := make(chan chan []readItem, pagesAhead)
	group.Go(func() error {
		defer close(pages)
		var readers errgroup.Group
		readers.SetLimit(runtime.GOMAXPROCS(0))
		defer readers.Wait()
		return c.eachPage(ctx, since, ids, func(items []storage.Item) error {
			page := make(chan []readItem, 1)
			readers.Go(func() error {
				page <- c.readPage(items, live)
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
				c.near.Remember(item.mark, tell.Repeats(item.Item))
				if live[item.EventID] {
					c.stories.Remember(item.item, tell.Belongs(item.Item))
				}
				n++
			}
		}
		return nil
	})
	return n, group.Wait()
}

// eachPage calls do with all items to be remembered, the oldest first: all since a
// time, and what live events had before it, for an event lives for as long as the
// window after its last item.
func (c *clusterer) eachPage(ctx context.Context, since time.Time, events []string, do func([]storage.Item) error) error {
	for _, read := range []func(last storage.Item) ([]storage.Item, error){
		func(last storage.Item) ([]storage.Item, error) {
			return c.store.EventItems(ctx, c.lane, events, since.Add(-c.window), since, last, pageItems)
		},
		func(last storage.Item) ([]storage.Item, error) {
			return c.store.ItemsSince(ctx, c.lane, since, last, pageItems)
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

// readPage reads the words of items, but for spam, which is not remembered.
func (c *clusterer) readPage(items []storage.Item, live map[string]bool) []readItem {
	page := make([]readItem, 0, len(items))
	for _, i := range items {
		if i.Spam {
			continue
		}
		words := c.read(i, live[i.EventID] && i.DuplicateOf == "")
		i.HTML = ""
		page = append(page, readItem{i, words})
	}
	return page
}

// A lane's hands are what people decided of its live items, as its successor has
// to know it.
type hands struct {
	Items  []near.Hand  `json:"items,omitempty"`
	Events []story.Hand `json:"events,omitempty"`
}

// handsNote is the name under which a lane's hands are noted.
func (c *clusterer) handsNote() string { return "hands-" + c.lane }

func (c *clusterer) recallHands(ctx context.Context) error {
	note, err := c.store.Note(ctx, c.handsNote())
	if err != nil || note == nil {
		return err
	}
	var h hands
	if err := json.Unmarshal(note, &h); err != nil {
		return err
	}
	for _, hand := range h.Items {
		c.near.Hold(hand)
	}
	for _, hand := range h.Events {
		c.stories.Hold(hand)
	}
	return nil
}
