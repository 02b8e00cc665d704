package storage

import (
	"cmp"
	"slices"
)

// MergeFeeds returns feed after old has moved to it. Fields of feed take precedence over fields of old, and
// its tags come first. Categories are added, and Added is the earlier time. The store itself counts Items and
// LastItem.
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
