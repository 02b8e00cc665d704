package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/classify/text"
	"feedmesh/storage"
)

// Similar are items about the same as one.
type Similar struct {
	Items []FoundItem `json:"items" doc:"The most alike first; none of its own story, and of each other story one."`
}

// similarItems is how many items are asked for to have one of each story.
const similarItems = 60

func (s *Server) similarRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/items/{id}/similar", "list-similar", "Items that are about the same", 404, 503),
		func(ctx context.Context, in *struct {
			ID    string `path:"id" maxLength:"64"`
			Limit int    `query:"limit" minimum:"1" maximum:"20" default:"10"`
		}) (*body[Similar], error) {
			similar, err := s.Similar(ctx, in.ID, in.Limit)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Similar]{Body: similar}, nil
		})
}

// Similar returns at most limit items that are about the same as the one with this
// ID.
func (s *Server) Similar(ctx context.Context, id string, limit int) (Similar, error) {
	item, err := s.Store.Item(ctx, id)
	if err != nil {
		return Similar{}, fmt.Errorf("item %s: %w", id, err)
	}
	hits, err := s.askSimilar(ctx, storage.Indexed{Item: item, Text: text.Plain(item.HTML)})
	if err != nil {
		return Similar{}, fmt.Errorf("what is like item %s: %w", id, err)
	}
	items, err := s.foundItems(ctx, hits, s.titles(ctx), newMarker(nil, false))
	if err != nil {
		return Similar{}, err
	}
	similar := Similar{Items: []FoundItem{}}
	seen := map[string]bool{}
	for _, other := range items {
		// The index may not know yet what the store does.
		told := other.StoryID != "" && (other.StoryID == item.StoryID || seen[other.StoryID])
		if told || other.Spam || other.DuplicateOf != "" || item.DuplicateOf == other.ID || len(similar.Items) == limit {
			continue
		}
		seen[other.StoryID] = true
		similar.Items = append(similar.Items, other)
	}
	return similar, nil
}

func (s *Server) askSimilar(ctx context.Context, item storage.Indexed) ([]storage.Hit, error) {
	patient, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	hits, err := s.Index.Similar(patient, item, similarItems)
	return hits, inTime(ctx, err)
}

// inTime returns an index's error as its being away if that took all our patience.
func inTime(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("no answer in %v: %w", indexPatience, storage.ErrUnavailable)
	}
	return err
}
