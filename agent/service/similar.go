package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/classify/text"
	"feedmesh/storage"
)

// similarItems is the number of hits requested, enough to keep one of each story.
const similarItems = 60

func (s *Server) similarRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/items/{id}/similar", "list-similar", "Items with similar content", 404, 503),
		func(ctx context.Context, in *struct {
			ID    string `path:"id" maxLength:"64"`
			Limit int    `query:"limit" minimum:"1" maximum:"20" default:"10"`
		}) (*body[wire.Similar], error) {
			similar, err := s.Similar(ctx, in.ID, in.Limit)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.Similar]{Body: similar}, nil
		})
}

// Similar returns at most limit items with content similar to that of the given item.
func (s *Server) Similar(ctx context.Context, id string, limit int) (wire.Similar, error) {
	item, err := storage.ItemByID(ctx, s.Store, id)
	if err != nil {
		return wire.Similar{}, fmt.Errorf("item %s: %w", id, err)
	}
	hits, err := s.similarHits(ctx, storage.IndexItem{Item: item, Text: text.PlainText(item.HTML)})
	if err != nil {
		return wire.Similar{}, fmt.Errorf("find items similar to %s: %w", id, err)
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
		if sameStory || other.Spam || other.DuplicateOf != "" || item.DuplicateOf == other.ID || len(similar.Items) == limit {
			continue
		}
		seen[other.StoryID] = true
		similar.Items = append(similar.Items, other)
	}
	return similar, nil
}

func (s *Server) similarHits(ctx context.Context, item storage.IndexItem) ([]storage.Hit, error) {
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	hits, err := s.Index.Similar(indexCtx, item, similarItems)
	return hits, asUnavailable(ctx, err)
}

// asUnavailable converts a timeout of the index to [storage.ErrUnavailable].
func asUnavailable(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("no answer in %v: %w", indexTimeout, storage.ErrUnavailable)
	}
	return err
}
