package meilisearch

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	upstream "github.com/meilisearch/meilisearch-go"
	"golang.org/x/sync/errgroup"
)

// findPage returns the hits of a page, and the totals, which count items and not stories.
func (s *search) findPage(ctx context.Context) (*findings, error) {
	requests := s.pages()
	if s.query.OnePerStory {
		for _, r := range requests {
			r.Distinct = string(attrStory)
		}
	}
	if len(requests) == 1 && len(s.in) == 1 {
		return s.findOnly(ctx, requests[0])
	}
	offset, size := s.window()
	limit := offset + size // places in merged hits are none in those of a part
	var f *findings
	var hits []hit
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		f, err = s.whole(ctx)
		return err
	})
	group.Go(func() (err error) {
		hits, err = s.firstHits(ctx, requests, limit)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	f.hits = hits
	return f, nil
}

// findOnly is findPage for the page of a single branch in the only part.
func (s *search) findOnly(ctx context.Context, page *upstream.SearchRequest) (*findings, error) {
	page.Offset, page.Limit = s.window()
	found, err := s.findIn(ctx, s.in, page, totalsOf(s.searches[0], s.facets()...))
	if err != nil || found == nil {
		return &findings{}, err
	}
	return &findings{hits: found[0].hits, offset: page.Offset, total: found[1].total, facets: found[1].facets}, nil
}

// A hitList is the beginning of the hits of a request in a part.
type hitList struct {
	in   part
	hits []hit
}

// firstHits returns the first hits of requests for pages, in the order of the results.
//
// Meilisearch reads a whole document for each hit. So parts are searched for a few hits first, but the latest for all, if the newest come
// first; then those again of whose hits all are among the results, for as many as these are. More of one search can't be among them, also
// if each story has one hit only.
func (s *search) firstHits(ctx context.Context, requests []*upstream.SearchRequest, limit int64) ([]hit, error) {
	few, whole := 2+2*limit/int64(max(1, len(s.in))), 0
	if !s.scored {
		few, whole = 1, min(1, len(s.in))
	}
	few = min(few, limit)
	var latest, others []hitList
	group, each := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		latest, err = s.lists(each, s.in[:whole], requests, limit)
		return err
	})
	group.Go(func() (err error) {
		others, err = s.lists(each, s.in[whole:], requests, few)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	lists := append(latest, others...)
	hits := s.merged(lists, limit)
	again := map[string]part{}
	for _, l := range others {
		isCut := int64(len(l.hits)) == few && few < limit
		if isCut && (int64(len(hits)) < limit || s.compare(l.hits[len(l.hits)-1], hits[limit-1]) <= 0) {
			again[l.in.name] = l.in
		}
	}
	if len(again) == 0 {
		return hits, nil
	}
	rest, err := s.lists(ctx, slices.Collect(maps.Values(again)), requests, limit)
	if err != nil {
		return nil, err
	}
	lists = slices.DeleteFunc(lists, func(l hitList) bool { return again[l.in.name].name != "" })
	return s.merged(append(lists, rest...), limit), nil
}

// lists returns the first n hits of each request in each part.
func (s *search) lists(ctx context.Context, in parts, requests []*upstream.SearchRequest, n int64) ([]hitList, error) {
	first := make([]*upstream.SearchRequest, len(requests))
	for i, r := range requests {
		page := *r
		page.Limit = n
		first[i] = &page
	}
	found, err := s.findIn(ctx, in, first...)
	if err != nil {
		return nil, err
	}
	var lists []hitList
	for _, a := range found {
		for _, p := range in {
			var hits []hit
			for _, h := range a.hits {
				if h.part == p.name {
					hits = append(hits, h)
				}
			}
			if len(hits) > 0 {
				lists = append(lists, hitList{in: p, hits: hits})
			}
		}
	}
	return lists, nil
}

// merged returns the first hits of lists in the order of the results, without further hits of a document, or of a story if the query has
// OnePerStory.
func (s *search) merged(lists []hitList, limit int64) []hit {
	var hits []hit
	for _, l := range lists {
		hits = append(hits, l.hits...)
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

// whole returns the totals of the branches. Meilisearch counts a document of several branches once.
func (s *search) whole(ctx context.Context) (*findings, error) {
	if len(s.searches) == 1 {
		found, err := s.findIn(ctx, s.in, totalsOf(s.searches[0], s.facets()...))
		if err != nil || found == nil {
			return &findings{}, err
		}
		return &findings{total: found[0].total, facets: found[0].facets}, nil
	}
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
