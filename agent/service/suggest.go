package service

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func (s *Server) suggestRoutes(api huma.API) {
	huma.Register(api, op("GET", "/api/suggest", "suggest", "Complete a word from titles", 503),
		func(ctx context.Context, in *struct {
			Prefix string `query:"prefix" maxLength:"64" doc:"Prefix: the start of the last word of a query. Empty: no suggestions."`
			Limit  int    `query:"limit" minimum:"1" maximum:"20" default:"8"`
		}) (*body[wire.Suggestions], error) {
			suggested, err := s.Suggest(ctx, in.Prefix, in.Limit)
			if err != nil {
				return nil, s.problem(err)
			}
			return &body[wire.Suggestions]{Body: suggested}, nil
		})
}

// Suggest returns at most limit words of titles that begin with the prefix.
func (s *Server) Suggest(ctx context.Context, prefix string, limit int) (wire.Suggestions, error) {
	indexCtx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	words, err := s.Index.Suggest(indexCtx, prefix, limit)
	if err != nil {
		return wire.Suggestions{}, fmt.Errorf("suggest words for %q: %w", prefix, asUnavailable(ctx, err))
	}
	return wire.Suggestions{Words: append([]storage.FacetCount{}, words...)}, nil
}
