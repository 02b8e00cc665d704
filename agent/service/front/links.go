package front

import (
	"context"
	"sync"
	"time"

	"feedmesh/agent/wire"
	"feedmesh/classify/story/across"
	"feedmesh/storage"
)

const (
	linksMaxAge  = 10 * time.Minute
	linksTimeout = 30 * time.Second // of a batch
	maxLinks     = 2000             // stories in the cache
	maxLinkBatch = 60               // stories that are compared for one page
)

// A linkCache caches the links of stories to stories in another language. A comparison takes a search, too long for
// a page of dozens of stories, so one worker compares a batch in the background and later pages have the links.
type linkCache struct {
	Options
	ctx    context.Context
	cancel context.CancelFunc
	worker sync.WaitGroup

	mu      sync.Mutex
	busy    bool
	byStory map[string]storyLink
}

// A storyLink is the best link of a story, nil if it has none.
type storyLink struct {
	made time.Time
	to   *wire.StoryLink
}

func newLinkCache(o Options) *linkCache {
	c := &linkCache{Options: o, byStory: map[string]storyLink{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *linkCache) close() {
	c.mu.Lock() // no worker starts after this
	c.cancel()
	c.mu.Unlock()
	c.worker.Wait()
}

// of returns the cached links of stories, by ID. Stories without a recent link are compared in the background, unless
// a batch is.
func (c *linkCache) of(stories []storage.Story, details map[string]*detail) map[string]*wire.StoryLink {
	c.mu.Lock()
	defer c.mu.Unlock()
	links, now := map[string]*wire.StoryLink{}, c.Now()
	var missing []storage.Story
	for _, s := range stories {
		if across.Other(s.Partition) == "" || details[s.ID] == nil {
			continue
		}
		l, cached := c.byStory[s.ID]
		links[s.ID] = l.to
		if (!cached || now.Sub(l.made) > linksMaxAge) && len(missing) < maxLinkBatch {
			missing = append(missing, s)
		}
	}
	if len(missing) > 0 && !c.busy && c.Index != nil && c.ctx.Err() == nil {
		c.busy = true
		c.worker.Go(func() { c.compare(missing, details) })
	}
	return links
}

// compare finds the links of a batch of stories.
func (c *linkCache) compare(stories []storage.Story, details map[string]*detail) {
	ctx, cancel := context.WithTimeout(c.ctx, linksTimeout)
	defer cancel()
	for _, s := range stories {
		items := make([]storage.Item, 0, detailItems+1)
		for _, i := range append([]itemBrief{details[s.ID].headline}, details[s.ID].items...) {
			items = append(items, storage.Item{ID: i.ID, Title: i.Title})
		}
		found := c.Across(ctx, s, items)
		if ctx.Err() != nil {
			break
		}
		l := storyLink{made: c.Now()}
		if len(found) > 0 {
			l.to = &found[0]
		}
		c.put(s.ID, l)
	}
	c.mu.Lock()
	c.busy = false
	c.mu.Unlock()
}

func (c *linkCache) put(id string, l storyLink) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byStory) >= maxLinks {
		clear(c.byStory)
	}
	c.byStory[id] = l
}
