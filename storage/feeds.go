package storage

import (
	"cmp"
	"context"
)

// Name returns what a person calls the feed: its title, or its address if it has
// none.
func (f Feed) Name() string { return cmp.Or(f.Title, f.URL) }

// eachSize is how many feeds [EachFeed] reads at once.
const eachSize = 1000

// EachFeed calls do with each feed, ordered by URL, until it returns an error. It
// holds some feeds in memory, never all.
func EachFeed(ctx context.Context, from Feeds, do func(Feed) error) error {
	for after := ""; ; {
		page, err := from.ListFeeds(ctx, after, eachSize)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, f := range page {
			if err := do(f); err != nil {
				return err
			}
		}
		after = page[len(page)-1].URL
	}
}
