// Package workbench is where rules are tried before they are put in force, and
// applied to the items of a store afterwards. It knows no HTTP; what decides by a
// text of rules is handed to it.
package workbench

import (
	"context"
	"errors"
	"fmt"

	"feedmesh/classify"
	"feedmesh/storage"
)

// A Decider says what a document is, as [classify.Classifier] does. It may be
// asked concurrently.
type Decider interface {
	Decide(d classify.Document) classify.Decision
}

// A Store is what the workbench needs of a [storage.Store].
type Store interface {
	storage.Feeds
	storage.Items
	storage.Relabels
	storage.Corrections
	storage.Jobs
}

// feeds looks up the feeds of items, and asks for each once in a while.
type feeds struct {
	store storage.Feeds
	known map[string]storage.Feed
}

// maxFeeds is how many feeds are remembered at once.
const maxFeeds = 5000

// of returns the feed of an item: one that was removed meanwhile is empty but
// for its ID.
func (f *feeds) of(ctx context.Context, id string) (storage.Feed, error) {
	if feed, is := f.known[id]; is {
		return feed, nil
	}
	feed, err := f.store.Feed(ctx, id)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return feed, fmt.Errorf("feed %s: %w", id, err)
	}
	if f.known == nil || len(f.known) >= maxFeeds {
		f.known = map[string]storage.Feed{}
	}
	feed.ID = id
	f.known[id] = feed
	return feed, nil
}
