// Package workbench tests rules before they are put in force ([TestItem], [TestDraft], [Backtest]), and
// applies them to stored items afterwards, in jobs of a [Runner]. It has no HTTP; the caller passes the
// [Decider] of a text. Work runs in batches, so that memory is bounded.
package workbench

import (
	"context"
	"errors"
	"fmt"

	"feedmesh/classify"
	"feedmesh/storage"
)

// A Decider labels documents, as [classify.Classifier] does. It may be called concurrently.
type Decider interface {
	Decide(d classify.Document) classify.Decision
}

// A Store is the part of a [storage.Store] that the workbench uses.
type Store interface {
	storage.Feeds
	storage.Items
	storage.Relabeling
	storage.Corrections
	storage.Records
}

// feedCache caches the feeds of items.
type feedCache struct {
	store   storage.Feeds
	entries map[string]storage.Feed
}

// maxFeeds is the capacity of the cache.
const maxFeeds = 5000

// get returns the feed of an item. A feed that was removed has only an ID.
func (f *feedCache) get(ctx context.Context, id string) (storage.Feed, error) {
	if feed, is := f.entries[id]; is {
		return feed, nil
	}
	feed, err := f.store.Feed(ctx, id)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return feed, fmt.Errorf("feed %s: %w", id, err)
	}
	if f.entries == nil || len(f.entries) >= maxFeeds {
		f.entries = map[string]storage.Feed{}
	}
	feed.ID = id
	f.entries[id] = feed
	return feed, nil
}
