package meilisearch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	upstream "github.com/meilisearch/meilisearch-go"
	"golang.org/x/sync/errgroup"
)

// findPage returns the hits of a page, and the totals, which count items and not stories.
//
// Each branch is searched in each part, for as many hits as the page and those before it have: more of one search can't be among them,
// also if each story has one hit only.
func (s *search) findPage(ctx context.Context) (*findings, error) {
	requests := s.pages()
	offset, limit := s.window()
	if len(s.in) > 1 || len(requests) > 1 {
		offset, limit = 0, offset+limit // places in merged hits are none in those of a part
	}
	for _, r := range requests {
		if r.Offset, r.Limit = offset, limit; s.query.OnePerStory {
			r.Distinct = string(attrStory)
		}
	}
	if len(requests) == 1 {
		return s.findBranchPage(ctx, requests[0])
	}
	var f *findings
	var pages []answer
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		f, err = s.whole(ctx)
		return err
	})
	group.Go(func() (err error) {
		pages, err = s.findIn(ctx, s.in, requests...)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	f.hits = s.merged(pages, limit)
	return f, nil
}

// findBranchPage is findPage for a single branch, whose page is given.
func (s *search) findBranchPage(ctx context.Context, page *upstream.SearchRequest) (*findings, error) {
	whole := *s.searches[0]
	whole.HitsPerPage, whole.Facets = new(int64), s.facets() // no hits, but their exact number
	found, err := s.findIn(ctx, s.in, page, &whole)
	if err != nil || found == nil {
		return &findings{}, err
	}
	return &findings{hits: s.merged(found[:1], page.Limit), offset: page.Offset, total: found[1].total, facets: found[1].facets}, nil
}

// merged returns the first hits of answers, in the order of the results: each document once, and each story if the query asks for that.
func (s *search) merged(answers []answer, limit int64) []hit {
	var hits []hit
	for _, a := range answers {
		hits = append(hits, a.hits...)
	}
	slices.SortStableFunc(hits, s.compare)
	documents, stories := map[string]bool{}, map[string]bool{}
	hits = slices.DeleteFunc(hits, func(h hit) bool {
		again := documents[h.ID] || s.query.OnePerStory && h.Story != "" && stories[h.Story]
		documents[h.ID], stories[h.Story] = true, true
		return again
	})
	return hits[:min(int64(len(hits)), limit)]
}

// compare compares hits in the order of the results, which is that of the rankingRules.
func (s *search) compare(a, b hit) int {
	byTime := cmp.Or(cmp.Compare(b.Published, a.Published), cmp.Compare(a.ID, b.ID))
	if !s.scored {
		return byTime
	}
	return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.Prominence, a.Prominence), byTime)
}

// whole returns the totals of several branches. Meilisearch counts a document of several branches once.
func (s *search) whole(ctx context.Context) (*findings, error) {
	found, err := inShares(ctx, s.in, s.wholeOfShare)
	if err != nil {
		return nil, err
	}
	all := &findings{}
	for _, f := range found {
		all.total += f.total
		addFacets(&all.facets, f.facets)
	}
	return all, nil
}

// wholeOfShare is whole for some parts.
func (s *search) wholeOfShare(ctx context.Context, in parts) (*findings, error) {
	found, _, err := s.multiSearch(ctx, in, func(in parts) *upstream.MultiSearchRequest {
		federation := &upstream.MultiSearchFederation{}
		if facets := s.facets(); facets != nil {
			federation.FacetsByIndex = map[string][]string{}
			for _, p := range in {
				federation.FacetsByIndex[p.name] = facets
			}
			federation.MergeFacets = &upstream.MultiSearchFederationMergeFacets{MaxValuesPerFacet: maxFacetValues}
		}
		return &upstream.MultiSearchRequest{Federation: federation, Queries: in.requests(s.searches)}
	})
	if err != nil || found == nil {
		return &findings{}, err
	}
	f := &findings{total: found.EstimatedTotalHits, facets: map[string]map[string]int64{}}
	for name, counts := range found.FacetDistribution {
		var values map[string]int64
		if err := json.Unmarshal(counts, &values); err != nil {
			return nil, err
		}
		f.facets[name] = values
	}
	return f, nil
}
