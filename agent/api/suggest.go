package api

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/storage"
)

// Suggested are words that a query may go on with.
type Suggested struct {
	Words []storage.FacetCount `json:"words" doc:"Words of titles, the most frequent first, with about how many items have each."`
}

func (s *Server) suggestRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/suggest", "suggest", "Words of titles that begin so", 503),
		func(ctx context.Context, in *struct {
			Prefix string `query:"prefix" maxLength:"64" doc:"What the last word of a query begins with. None: no words."`
			Limit  int    `query:"limit" minimum:"1" maximum:"20" default:"8"`
		}) (*body[Suggested], error) {
			suggested, err := s.Suggest(ctx, in.Prefix, in.Limit)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[Suggested]{Body: suggested}, nil
		})
}

// Suggest returns at most limit words of titles that begin with the prefix.
func (s *Server) Suggest(ctx context.Context, prefix string, limit int) (Suggested, error) {
	patient, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	words, err := s.Index.Suggest(patient, prefix, limit)
	if err != nil {
		return Suggested{}, fmt.Errorf("words that begin with %q: %w", prefix, inTime(ctx, err))
	}
	return Suggested{Words: append([]storage.FacetCount{}, words...)}, nil
}
