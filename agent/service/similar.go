package service

import (
	"context"
	"fmt"

	"feedmesh/agent/wire"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// similarItems is the number of hits requested, enough to keep one of each story.
const similarItems = 60

// Similar returns items with content similar to that of the given item.
func (s *Search) Similar(ctx context.Context, in wire.ListSimilarRequest) (wire.Similar, error) {
	item, err := storage.ItemByID(ctx, s.Store, in.ID)
	if err != nil {
		return wire.Similar{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	hits, err := s.similarHits(ctx, storage.IndexItem{Item: item, Text: text.PlainText(item.HTML)})
	if err != nil {
		return wire.Similar{}, fmt.Errorf("find items similar to %s: %w", in.ID, err)
	}
	items, err := s.foundItems(ctx, hits, s.titles(ctx), newHighlighter(nil, false))
	if err != nil {
		return wire.Similar{}, err
	}
	similar := wire.Similar{Items: []wire.FoundItem{}}
	seen := map[string]bool{}
	for _, other := range items {
		// The index may be behind the store.
		sameStory := other.StoryID != "" && (other.StoryID == item.StoryID || seen[other.StoryID])
		if sameStory || other.Spam || other.DuplicateOf != "" || item.DuplicateOf == other.ID || len(similar.Items) == in.Limit {
			continue
		}
		seen[other.StoryID] = true
		similar.Items = append(similar.Items, other)
	}
	return similar, nil
}

func (s *Search) similarHits(ctx context.Context, item storage.IndexItem) ([]storage.Hit, error) {
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	hits, err := s.Index.Similar(indexCtx, item, similarItems)
	return hits, asUnavailable(ctx, err)
}
