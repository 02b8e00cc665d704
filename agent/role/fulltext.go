package role

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	lookEvery  = 2 * time.Second
	pagesFull  = 0.5          // fill of the queue of pages above which documents go around it
	pagesStand = 2 * pageLate // age of its oldest task likewise: nobody serves it
)

// fullText knows which documents go by way of their pages.
type fullText struct {
	tags  []string // of feeds; "all" stands for each
	feeds interface {
		Feed(ctx context.Context, id string) (storage.Feed, error)
	}
	depths func(context.Context) ([]mesh.Depth, error)

	mu     sync.Mutex
	looked time.Time
	open   bool // as last looked
}

// wanted reports whether the entries of a document are to have the text of their
// pages, and the queue for that has room: a feed never waits for it.
func (f *fullText) wanted(ctx context.Context, r subjects.Receipt) (bool, error) {
	wanted, err := f.asked(ctx, r)
	return wanted && f.hasRoom(ctx), err
}

// asked reports whether somebody wants the full text of a feed.
func (f *fullText) asked(ctx context.Context, r subjects.Receipt) (bool, error) {
	if r.FullText || slices.Contains(f.tags, "all") {
		return true, nil
	}
	if len(f.tags) == 0 {
		return false, nil
	}
	feed, err := f.feeds.Feed(ctx, r.FeedID)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up feed %s: %w", r.FeedID, err)
	}
	named := func(tag string) bool {
		return slices.ContainsFunc(f.tags, func(t string) bool { return strings.EqualFold(t, tag) })
	}
	return slices.ContainsFunc(feed.Tags, named), nil
}

// hasRoom reports whether the queue of pages is neither long nor stands still.
func (f *fullText) hasRoom(ctx context.Context) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) < lookEvery {
		return f.open
	}
	depths, err := f.depths(ctx)
	at := slices.IndexFunc(depths, func(d mesh.Depth) bool { return d.Queue == subjects.Pages.Name })
	f.looked = time.Now()
	f.open = err == nil && at >= 0 && depths[at].Fill < pagesFull && depths[at].Oldest < pagesStand.Seconds()
	return f.open
}
