package service

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func (s *Server) itemRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/items/{id}", "get-item", "One item, whole", 404, 503),
		func(ctx context.Context, in *byID) (*body[wire.ItemView], error) {
			item, err := s.Item(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.ItemView]{Body: item}, nil
		})
}

// Item returns one item with its text.
func (s *Server) Item(ctx context.Context, id string) (wire.ItemView, error) {
	item, err := storage.ItemByID(ctx, s.Store, id)
	if err != nil {
		return wire.ItemView{}, fmt.Errorf("item %s: %w", id, err)
	}
	return wire.ItemView{Item: item, FeedTitle: s.titles(ctx)(item.FeedID)}, nil
}

// titles returns a function that returns feeds' titles and caches them. A feed without a title is named by
// its address.
func (s *Server) titles(ctx context.Context) func(feedID string) string {
	cached := map[string]string{}
	return func(id string) string {
		title, ok := cached[id]
		if !ok {
			if f, err := s.Store.Feed(ctx, id); err == nil {
				title = f.Name()
			}
			cached[id] = title
		}
		return title
	}
}
