package api

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/storage"
)

// An ItemView is one item, whole.
type ItemView struct {
	storage.Item
	FeedTitle string `json:"feed_title"`
}

func (s *Server) itemRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/items/{id}", "get-item", "One item, whole", 404, 503),
		func(ctx context.Context, in *byID) (*body[ItemView], error) {
			item, err := s.Item(ctx, in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[ItemView]{Body: item}, nil
		})
}

// Item returns one item, whole.
func (s *Server) Item(ctx context.Context, id string) (ItemView, error) {
	item, err := s.Store.Item(ctx, id)
	if err != nil {
		return ItemView{}, fmt.Errorf("item %s: %w", id, err)
	}
	return ItemView{Item: item, FeedTitle: s.titles(ctx)(item.FeedID)}, nil
}

// titles returns a function that knows feeds' titles and asks for each once. A
// feed without one goes by its address.
func (s *Server) titles(ctx context.Context) func(feedID string) string {
	known := map[string]string{}
	return func(id string) string {
		title, ok := known[id]
		if !ok {
			if f, err := s.Store.Feed(ctx, id); err == nil {
				title = f.Name()
			}
			known[id] = title
		}
		return title
	}
}
