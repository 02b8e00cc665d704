package meilisearch

import (
	"context"
	"encoding/json"

	upstream "github.com/meilisearch/meilisearch-go"
)

// maxMerged is how many hits of several branches are searched for the first of each
// story: Meilisearch does not do that where it merges. Pages end there.
const maxMerged = 1000

// several asks for the documents of several branches, which Meilisearch merges: it
// gives each once, in one order, and counts it once.
func (s *search) several(ctx context.Context) (*findings, error) {
	offset, limit := s.window()
	if s.query.Once {
		offset, limit = 0, maxMerged
	}
	f, err := s.merged(ctx, s.pages(), offset, limit)
	if err != nil {
		return nil, err
	}
	if !s.byPlace() && s.after.Key != "" { // of those behind the cursor only
		whole, err := s.merged(ctx, s.asks, 0, 0)
		if err != nil {
			return nil, err
		}
		f.total, f.facets = whole.total, whole.facets
	}
	if s.query.Once {
		f.hits = oncePerStory(f.hits)
	}
	return f, nil
}

// merged returns what one of the requests finds, from offset on.
func (s *search) merged(ctx context.Context, requests []*upstream.SearchRequest, offset, limit int64) (*findings, error) {
	federation := &upstream.MultiSearchFederation{Offset: offset, Limit: limit}
	if facets := s.facets(); facets != nil {
		federation.FacetsByIndex = map[string][]string{s.name: facets}
		federation.MergeFacets = &upstream.MultiSearchFederationMergeFacets{MaxValuesPerFacet: maxFacetValues}
	}
	found, err := s.ask(ctx, &upstream.MultiSearchRequest{Federation: federation, Queries: requests})
	if err != nil || found == nil {
		return &findings{}, err
	}
	f := &findings{offset: offset, total: found.EstimatedTotalHits, facets: map[string]map[string]int64{}}
	for name, counts := range found.FacetDistribution {
		var values map[string]int64
		if err := json.Unmarshal(counts, &values); err != nil {
			return nil, err
		}
		f.facets[name] = values
	}
	return f, found.Hits.DecodeInto(&f.hits)
}

// oncePerStory returns the first hit of each story, and those of no story.
func oncePerStory(hits []hit) []hit {
	seen := map[string]bool{}
	var first []hit
	for _, h := range hits {
		if h.Story == "" || !seen[h.Story] {
			seen[h.Story] = true
			first = append(first, h)
		}
	}
	return first
}
