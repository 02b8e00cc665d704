package role

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

const (
	lookEvery  = 2 * time.Second
	pagesFull  = 0.5          // fill of the queue of pages above which documents go around it
	pagesStand = 2 * pageLate // age of its oldest task likewise: nobody serves it
)

// fullText knows which documents go by way of their pages.
type fullText struct {
	tags   []string // of feeds; "all" stands for each
	depths func(context.Context) ([]mesh.Depth, error)

	mu     sync.Mutex
	looked time.Time
	open   bool // as last looked
}

// wanted reports whether the entries of a document are to have the text of their
// pages, and the queue for that has room: a feed never waits for it.
func (f *fullText) wanted(ctx context.Context, d subjects.Document) bool {
	return f.asked(d) && f.hasRoom(ctx)
}

// asked reports whether somebody wants the full text of a document's feed.
func (f *fullText) asked(d subjects.Document) bool {
	if d.FullText || slices.Contains(f.tags, "all") {
		return true
	}
	named := func(tag string) bool {
		return slices.ContainsFunc(f.tags, func(t string) bool { return strings.EqualFold(t, tag) })
	}
	return slices.ContainsFunc(d.FeedTags, named)
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
