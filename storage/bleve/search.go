package bleve

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	upstream "github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"

	"feedmesh/storage"
)

// Search implements [storage.Index].
func (x *Index) Search(ctx context.Context, q storage.Query) (storage.Results, error) {
	after, err := parseCursor(q)
	if err != nil {
		return storage.Results{}, err
	}
	m := &match{query: q, stems: stemsOf(q.Words), weights: after.Weights}
	if strings.TrimSpace(q.Words) != "" && len(m.stems) == 0 {
		m.nothing = true // nothing but punctuation
	}
	limit := q.PageSize()
	request := &upstream.SearchRequest{
		Query: m,
		Size:  limit + 1, // one more tells whether there is another page
		Sort:  search.SortOrder{&search.SortField{Field: fieldOrder, Type: search.SortFieldAsString}},
	}
	if m.scored() {
		request.Sort = append(search.SortOrder{&search.SortScore{Desc: true}}, request.Sort...)
	} else {
		request.Score = upstream.ScoreNone
	}
	if q.Cursor != "" {
		request.SearchAfter = after.place(m.scored())
	}
	if q.Facets {
		request.Facets = make(upstream.FacetsRequest)
		for _, field := range storage.FacetNames {
			request.Facets[field] = upstream.NewFacetRequest(field, storage.MaxFacet)
		}
	}
	found, err := x.bleve.SearchInContext(ctx, request)
	if err != nil {
		return storage.Results{}, fmt.Errorf("search: %w", err)
	}
	return m.results(found, limit), nil
}

// results returns what bleve found as a page of at most limit hits.
func (m *match) results(found *upstream.SearchResult, limit int) storage.Results {
	results := storage.Results{Total: int64(found.Total)}
	hits := found.Hits
	if len(hits) > limit {
		hits = hits[:limit]
		last := hits[limit-1]
		results.Next = cursor{
			Query: m.query.Key(), Order: last.Sort[len(last.Sort)-1], Score: last.Score, Weights: m.weights,
		}.String()
	}
	for _, hit := range hits {
		results.Hits = append(results.Hits, storage.Hit{ID: hit.ID, Score: hit.Score})
	}
	if m.query.Facets {
		results.Facets = make(map[string][]storage.FacetCount)
		for _, field := range storage.FacetNames {
			results.Facets[field] = facetCounts(found.Facets[field])
		}
	}
	return results
}

func facetCounts(facet *search.FacetResult) []storage.FacetCount {
	counts := []storage.FacetCount{}
	if facet == nil {
		return counts
	}
	for _, term := range facet.Terms.Terms() {
		counts = append(counts, storage.FacetCount{Value: term.Term, Count: int64(term.Count)})
	}
	return counts
}

// place returns the sort values after which the next page begins.
func (c cursor) place(scored bool) []string {
	if !scored {
		return []string{c.Order}
	}
	return []string{strconv.FormatFloat(c.Score, 'g', -1, 64), c.Order}
}
