package parse

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/subjects"
)

const (
	checkQueueEvery = 2 * time.Second
	maxPagesFill    = 0.5                     // fill of the page queue above which documents bypass it
	maxPagesAge     = 2 * subjects.MaxPageAge // age of its oldest task with the same effect: no agent serves it
)

// fullText decides which documents pass through the page queue.
type fullText struct {
	tags   []string // of feeds; "all" matches each
	depths func(context.Context) ([]subjects.Depth, error)

	mu      sync.Mutex
	checked time.Time
	open    bool // result of the last check
}

// isEnabled reports whether the text of a document's pages is requested and the page queue has capacity: a feed
// never waits for it.
func (f *fullText) isEnabled(ctx context.Context, d subjects.Document) bool {
	return f.enabled(d) && f.hasRoom(ctx)
}

// enabled reports whether full text is enabled for a document's feed.
func (f *fullText) enabled(d subjects.Document) bool {
	if d.FullText || slices.Contains(f.tags, "all") {
		return true
	}
	named := func(tag string) bool {
		return slices.ContainsFunc(f.tags, func(t string) bool { return strings.EqualFold(t, tag) })
	}
	return slices.ContainsFunc(d.FeedTags, named)
}

// hasRoom reports whether the page queue is short and served.
func (f *fullText) hasRoom(ctx context.Context) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.checked) < checkQueueEvery {
		return f.open
	}
	depths, err := f.depths(ctx)
	at := slices.IndexFunc(depths, func(d subjects.Depth) bool { return d.Queue == subjects.PageQueue.Name })
	f.checked = time.Now()
	f.open = err == nil && at >= 0 && depths[at].Fill < maxPagesFill && depths[at].Oldest < maxPagesAge.Seconds()
	return f.open
}
