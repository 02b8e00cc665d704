package service

import (
	"context"
	"fmt"
	"slices"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

const (
	// briefItems is the number of newest items of each story that are read for a list.
	briefItems = 24

	maxPublishers = 5

	// relatedItems is the number of items of a story that are read to find related items.
	relatedItems = 200
)

// Stories answers requests about stories.
type Stories struct{ *core }

// List returns a page of stories. It returns [storage.ErrBadCursor] for a cursor of another list.
func (s *Stories) List(ctx context.Context, q wire.StorySearch) (wire.StoryPage, error) {
	stories, next, err := s.Store.ListStories(ctx, storage.StoryQuery{
		Partition: q.Language, Category: q.Category, Topic: q.Topic, After: q.After, Before: q.Before,
		Sources: q.Sources, Newest: q.Sort == "newest", Limit: q.Limit, Cursor: q.Cursor,
	})
	if err != nil {
		return wire.StoryPage{}, fmt.Errorf("list stories: %w", err)
	}
	headlines := make([]string, len(stories))
	for i, story := range stories {
		headlines[i] = story.Headline
	}
	items, err := s.Store.Items(ctx, headlines...)
	if err != nil {
		return wire.StoryPage{}, fmt.Errorf("read the headlines: %w", err)
	}
	page := wire.StoryPage{Stories: make([]wire.StoryBrief, len(stories)), Next: next}
	titles := s.titles(ctx)
	for i, story := range stories {
		stored, err := s.read(ctx, story.ID, briefItems)
		if err != nil {
			return wire.StoryPage{}, err
		}
		newest := placement.CountedItems(stored.Items)
		brief := wire.StoryBrief{Story: story, Activity: activityOf(newest), Why: storyReason(newest)}
		if at := slices.IndexFunc(items, func(i storage.Item) bool { return i.ID == story.Headline }); at >= 0 {
			headline := items[at]
			brief.URL, brief.FeedID, brief.FeedTitle = headline.URL, headline.FeedID, titles(headline.FeedID)
			newest = slices.Insert(newest, 0, headline)
		}
		brief.Publishers = somePublishers(newest, titles)
		page.Stories[i] = brief
	}
	return page, nil
}

// Related returns other items of an item's story, without its duplicates. It returns
// [storage.ErrNotFound] if the item does not exist.
func (s *Stories) Related(ctx context.Context, in wire.ListRelatedRequest) (wire.Related, error) {
	item, err := storage.ItemByID(ctx, s.Store, in.ID)
	if err != nil {
		return wire.Related{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	stored, err := s.read(ctx, item.StoryID, relatedItems)
	if err != nil || stored.Count == 0 {
		return wire.Related{Items: []wire.ItemBrief{}}, err
	}
	story, err := s.summarize(ctx, item.StoryID, stored)
	if err != nil {
		return wire.Related{}, err
	}
	var newest, others []storage.Item
	seen := map[string]bool{placement.Publisher(item): true}
	for _, i := range stored.Items {
		switch p := placement.Publisher(i); {
		case firstID(i) == firstID(item):
		case seen[p]:
			others = append(others, i)
		default:
			seen[p], newest = true, append(newest, i)
		}
	}
	related := append(newest, others...)
	return wire.Related{Story: story, Items: briefsOf(related[:min(in.Limit, len(related))], s.titles(ctx))}, nil
}

// somePublishers returns the names of the first publishers among items.
func somePublishers(items []storage.Item, titles func(feedID string) string) []string {
	names := []string{}
	for _, i := range items {
		if name := publisher(i, titles); len(names) < maxPublishers && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// storyReason returns the reason of the first item that joined an existing event, or "".
func storyReason(items []storage.Item) string {
	for _, i := range items {
		if i.EventID != storage.EventID(i.ID) && i.StoryReason != "" {
			return i.StoryReason
		}
	}
	return ""
}
