package service

import (
	"context"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// titles returns a function that returns feeds' titles and caches them. A feed without a title is named by
// its address.
func (c *core) titles(ctx context.Context) func(feedID string) string {
	cached := map[string]string{}
	return func(id string) string {
		title, ok := cached[id]
		if !ok {
			if f, err := c.Store.Feed(ctx, id); err == nil {
				title = f.Name()
			}
			cached[id] = title
		}
		return title
	}
}

// viewOf returns an item with the title of its feed.
func (c *core) viewOf(ctx context.Context, i storage.Item) wire.ItemView {
	return wire.ItemView{Item: i, FeedTitle: c.titles(ctx)(i.FeedID)}
}

// briefOf returns an item without its text.
func briefOf(i storage.Item, titles func(feedID string) string) wire.ItemBrief {
	return wire.ItemBrief{
		ID: i.ID, Title: i.Title, URL: i.URL, FeedID: i.FeedID, FeedTitle: titles(i.FeedID), Publisher: publisher(i, titles),
		Language: i.Language, Seen: i.FirstSeen, Spam: i.Spam, StoryID: i.StoryID, EventID: i.EventID, StoryWhy: i.StoryReason,
		DuplicateOf: i.DuplicateOf, DuplicateBy: i.DuplicateBy, DuplicateScore: i.DuplicateScore, DuplicateWhy: i.DuplicateReason,
	}
}

// briefsOf returns items without their texts.
func briefsOf(items []storage.Item, titles func(feedID string) string) []wire.ItemBrief {
	briefs := make([]wire.ItemBrief, len(items))
	for n, i := range items {
		briefs[n] = briefOf(i, titles)
	}
	return briefs
}

// publisher returns the name of an item's publisher.
func publisher(i storage.Item, titles func(feedID string) string) string {
	if name := placement.Publisher(i); name != i.FeedID {
		return name
	}
	return titles(i.FeedID)
}

// firstID returns the ID of an item's original, or its own.
func firstID(i storage.Item) string {
	if i.DuplicateOf != "" {
		return i.DuplicateOf
	}
	return i.ID
}
