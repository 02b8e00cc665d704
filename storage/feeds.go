package storage

import (
	"cmp"
	"context"
)

// Name returns the feed's display name: its title, or its URL without one.
func (f Feed) Name() string { return cmp.Or(f.Title, f.URL) }

// feedBatchSize is the batch size of [ForEachFeed].
const feedBatchSize = 1000

// ForEachFeed calls do with each feed, ordered by URL, until do returns an error. It reads feeds in batches,
// so memory stays bounded.
func ForEachFeed(ctx context.Context, from Feeds, do func(Feed) error) error {
	for query := (FeedQuery{Limit: feedBatchSize}); ; {
		page, err := from.FindFeeds(ctx, query)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, f := range page {
			if err := do(f); err != nil {
				return err
			}
		}
		query.After = query.Sort.Position(page[len(page)-1])
	}
}
