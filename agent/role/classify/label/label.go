// Package label converts items to the documents that package classify labels ([Document]), and its decisions
// to labels of items ([Labels], [Put]).
package label

import (
	"feedmesh/classify"
	"feedmesh/storage"
)

// Document returns the document of an item of a feed. text is the plain text of its HTML.
func Document(item storage.Item, feed storage.Feed, text string) classify.Document {
	return classify.Document{
		Title: item.Title, Text: text, HTML: item.HTML, URL: item.URL, Author: item.Author, Language: item.Language,
		Tags: item.Tags, Published: item.Published,
		FeedID: item.FeedID, FeedTitle: feed.Title, FeedTags: feed.Tags,
		FeedCategories: feed.Categories, SpamThreshold: feed.SpamThreshold,
	}
}

// Put writes a decision to an item.
func Put(item *storage.Item, d classify.Decision) { *item = Labels("", d).ApplyTo(*item) }

// Labels returns a decision as the labels of the item with the given ID.
func Labels(id string, d classify.Decision) storage.Labels {
	return storage.Labels{
		ItemID: id, Spam: d.Spam, SpamScore: d.SpamScore, Flags: d.Flags,
		Categories: d.Categories, Topics: d.Topics, Reasons: d.Reasons, Score: d.Score, Sentiment: d.Sentiment,
	}
}
