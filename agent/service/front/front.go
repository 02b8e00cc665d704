// Package front makes the front page of a client: stories by section, without those that the client mutes, and with a
// mark on what is new since the client's last visit. [Pages.Today] and [Pages.Day] return pages, [Pages.Filter] what a
// client mutes. Details of stories and links to stories in another language are cached for all clients; a page takes at
// most some 30 reads of the store, whatever it has.
package front

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A Store is the part of [storage.Store] that front pages use.
type Store interface {
	storage.Records
	storage.Stories
	Items(ctx context.Context, ids ...string) ([]storage.Item, error)
	Feed(ctx context.Context, id string) (storage.Feed, error)
}

// Options are the dependencies of [Pages].
type Options struct {
	Store Store
	Index storage.Index // finds items of followed publishers, feeds and words; nil: there are none

	// Across returns the stories in another language about the same happening. items need IDs and titles only.
	Across func(ctx context.Context, of storage.Story, items []storage.Item) []wire.StoryLink

	Now func() time.Time
	Log *slog.Logger
}

// Pages makes the front pages of all clients. Its methods act for the client of the context ([access.From]) and may be
// called concurrently.
type Pages struct {
	Options
	details *detailCache
	links   *linkCache
}

// New returns the front pages of a store. The caller calls [Pages.Close].
func New(o Options) *Pages {
	return &Pages{Options: o, details: &detailCache{byStory: map[string]*detail{}}, links: newLinkCache(o)}
}

// Close cancels the background work and waits for it.
func (p *Pages) Close() { p.links.close() }

const (
	// visitGap is the time without a request after which another visit begins.
	visitGap = 30 * time.Minute

	visitInterval = time.Minute // accuracy of the time of a visit
)

// visit records a request of the client and returns the end of the visit before, zero if there was none.
func (p *Pages) visit(ctx context.Context) (since time.Time, err error) {
	client, now, visits := access.From(ctx).ID, p.Now(), storage.Visits(p.Store)
	v, err := visits.Read(ctx, client)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		v = storage.Visit{Client: client}
	case err != nil:
		return time.Time{}, err
	case now.Sub(v.Last) < visitInterval:
		return v.Before, nil
	case now.Sub(v.Last) >= visitGap:
		v.Before = v.Last
	}
	v.Last = now
	if err := visits.Put(ctx, v); err != nil {
		p.Log.Warn("visit not recorded", "err", err) // the page is of use without
	}
	return v.Before, nil
}

// detailItems is the number of newest items of a story that are read for a page.
const detailItems = 24

// maxDetails bounds the cached details, some 5 KB each.
const maxDetails = 1000

// A detail has the newest items of a story, as of a summary of it.
type detail struct {
	summarized, last time.Time // of the summary
	count            int
	items            []itemBrief // newest first, without spam and muted items
	headline         itemBrief
}

// An itemBrief is what a page shows of an item.
type itemBrief struct {
	ID, Title, URL, FeedID, EventID, Excerpt, Picture string
	Publisher                                         string // host, or the title of the feed
	Seen, Time                                        time.Time
}

// A detailCache caches the details of stories. A full cache is cleared.
type detailCache struct {
	mu      sync.Mutex
	byStory map[string]*detail
}

// get returns the detail of a story as of its summary, nil if it is not cached.
func (c *detailCache) get(s storage.Story) *detail {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.byStory[s.ID]
	if d == nil || !d.summarized.Equal(s.Summarized) || !d.last.Equal(s.LastSeen) || d.count != s.Items {
		return nil
	}
	return d
}

func (c *detailCache) put(id string, d *detail) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byStory) >= maxDetails {
		clear(c.byStory)
	}
	c.byStory[id] = d
}
