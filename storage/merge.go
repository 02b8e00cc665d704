package storage

import (
	"cmp"
	"slices"
)

// MergeFeeds returns what a feed is once another has moved to it: what it says
// itself goes before what the old one says, its tags come first, its categories
// are those of both, and it is as old as the older of the two. Its Items and LastItem stay for the store to count.
func MergeFeeds(feed, old Feed) Feed {
	feed.Title = cmp.Or(feed.Title, old.Title)
	feed.Site = cmp.Or(feed.Site, old.Site)
	feed.Language = cmp.Or(feed.Language, old.Language)
	feed.Rate = cmp.Or(feed.Rate, old.Rate)
	feed.Pinned = feed.Pinned || old.Pinned
	feed.FullText = feed.FullText || old.FullText
	feed.Request = cmp.Or(feed.Request, old.Request)
	feed.SpamThreshold = cmp.Or(feed.SpamThreshold, old.SpamThreshold)
	feed.Categories = addCategories(feed.Categories, old.Categories)
	feed.Tags = slices.Clone(feed.Tags)
	for _, tag := range old.Tags {
		if !slices.Contains(feed.Tags, tag) {
			feed.Tags = append(feed.Tags, tag)
		}
	}
	if feed.Added.IsZero() || old.Added.Before(feed.Added) {
		feed.Added = old.Added
	}
	return feed
}
