package meilisearch

import (
	"context"
	"encoding/json"

	upstream "github.com/meilisearch/meilisearch-go"
	"golang.org/x/sync/errgroup"
)

// several runs several branches, or searches several parts, in one batch. Meilisearch merges the results: it returns and counts each
// document once.
func (s *search) several(ctx context.Context) (*findings, error) {
	if s.query.OnePerStory {
		return s.stories(ctx)
	}
	offset, limit := s.window()
	f, err := s.merged(ctx, s.pages(), offset, limit)
	if err != nil {
		return nil, err
	}
	if !s.byPlace() && s.after.Key != "" { // only hits after the cursor
		whole, err := s.merged(ctx, s.searches, 0, 0)
		if err != nil {
			return nil, err
		}
		f.total, f.facets = whole.total, whole.facets
	}
	return f, nil
}

// maxMerged bounds the hits of several branches or parts that are searched for the first hit of each story. Pages end there.
const maxMerged = 1000

// stories is several for the first hit of each story. Meilisearch finds these in each branch and part, but not in merged results:
// whether a hit is the first depends on all before it, so each page is searched from the beginning.
func (s *search) stories(ctx context.Context) (f *findings, err error) {
	var hits []hit
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		f, err = s.merged(ctx, s.searches, 0, 0)
		return err
	})
	group.Go(func() (err error) {
		hits, err = s.firstHits(ctx)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	f.hits = hits
	return f, nil
}

// firstHits returns the first hit of each story, at least as many as the page needs if there are.
func (s *search) firstHits(ctx context.Context) ([]hit, error) {
	requests := s.pages()
	for _, r := range requests {
		r.Distinct = string(attrStory)
	}
	only := *s
	only.query.Facets = false
	offset, size := s.window()
	for limit := 2 * (offset + size); ; limit *= 2 { // parts have some stories in common
		limit = min(limit, maxMerged)
		f, err := only.merged(ctx, requests, 0, limit)
		if err != nil {
			return nil, err
		}
		first := oncePerStory(f.hits)
		if int64(len(first)) >= offset+size || int64(len(f.hits)) < limit || limit == maxMerged {
			return first, nil
		}
	}
}

// merged returns the merged results of requests, from offset on.
func (s *search) merged(ctx context.Context, requests []*upstream.SearchRequest, offset, limit int64) (*findings, error) {
	found, _, err := s.multiSearch(ctx, s.in, func(in parts) *upstream.MultiSearchRequest {
		federation := &upstream.MultiSearchFederation{Offset: offset, Limit: limit}
		if facets := s.facets(); facets != nil {
			federation.FacetsByIndex = map[string][]string{}
			for _, p := range in {
				federation.FacetsByIndex[p.name] = facets
			}
			federation.MergeFacets = &upstream.MultiSearchFederationMergeFacets{MaxValuesPerFacet: maxFacetValues}
		}
		return &upstream.MultiSearchRequest{Federation: federation, Queries: in.requests(requests)}
	})
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

// oncePerStory returns the first hit of each story, and the hits without a story.
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
