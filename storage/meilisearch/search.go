package meilisearch

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// searchTimeout is the timeout of a search.
const searchTimeout = 2 * time.Second

// Search implements [storage.Index]. Meilisearch has no word rarity and cannot weigh freshness against
// relevance: the score depends on the position of words, and ties are ordered by prominence, then newest
// first.
func (x *Index) Search(ctx context.Context, q storage.Query) (storage.Results, error) {
	after, err := parseCursor(q)
	if err != nil {
		return storage.Results{}, err
	}
	branches, err := branchesOf(q.Where, false)
	if err != nil {
		return storage.Results{}, err
	}
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	results, err := x.search(within, q, after, branches)
	if err != nil {
		return storage.Results{}, x.failed(ctx, "search", err)
	}
	return results, nil
}

// search returns a page of the results of the branches. If nothing matches, a retry allows typos.
func (x *Index) search(ctx context.Context, q storage.Query, after cursor, branches []branch) (storage.Results, error) {
	s := &search{Index: x, query: q, scored: q.Scored(), after: after}
	branches, err := s.expanded(ctx, branches)
	if err != nil {
		return storage.Results{}, err
	}
	if after.Fuzzy {
		s.searches, err = s.typoRequests(ctx, branches)
	} else {
		s.searches = s.strict(branches)
	}
	if err != nil {
		return storage.Results{}, err
	}
	results, err := s.page(ctx)
	if err != nil || results.Total > 0 || q.Cursor != "" {
		return results, err
	}
	if s.searches, err = s.typoRequests(ctx, branches); err != nil || s.searches == nil {
		return results, err
	}
	s.after.Fuzzy = true
	forgiven, err := s.page(ctx)
	if err != nil || forgiven.Total == 0 {
		return results, err
	}
	return forgiven, nil
}

// strict returns the requests of the branches without typos.
func (s *search) strict(branches []branch) []*upstream.SearchRequest {
	var requests []*upstream.SearchRequest
	for _, b := range s.prepared(branches) {
		requests = append(requests, s.request(b))
	}
	return requests
}

// prepared adds the conditions of the whole query to the branches. If there are several, each must contain
// words or Meilisearch does not merge them.
func (s *search) prepared(branches []branch) []branch {
	all := slices.Clone(branches)
	for i, b := range all {
		if b.hasNoWords() && (s.scored || len(all) > 1) {
			all[i].must = []term{{token: everyToken}}
		}
		all[i].only = allOf(found(s.query), b.only)
	}
	return all
}

// page returns the page after the cursor.
func (s *search) page(ctx context.Context) (storage.Results, error) {
	var found *findings
	var err error
	switch len(s.searches) {
	case 0:
		found = &findings{}
	case 1:
		found, err = s.one(ctx)
	default:
		found, err = s.several(ctx)
	}
	if err != nil {
		return storage.Results{}, err
	}
	results := s.results(found)
	results.Total, results.Fuzzy = found.total, s.after.Fuzzy && found.total > 0
	if s.query.Facets {
		results.Facets, err = facetsOf(found.facets)
	}
	return results, err
}

// findings are the results of requests.
type findings struct {
	hits   []hit
	offset int64 // of the first hit
	total  int64
	facets map[string]map[string]int64 // by attribute and value
}

// one runs a single branch: once for the page, and once for the totals, which count items and not stories.
func (s *search) one(ctx context.Context) (*findings, error) {
	page, whole := s.pages()[0], *s.searches[0]
	page.Offset, page.Limit = s.window()
	if s.query.OnePerStory {
		page.Distinct = string(attrStory)
	}
	whole.HitsPerPage, whole.Facets = new(int64), s.facets() // no hits, but their exact number
	found, err := s.find(ctx, page, &whole)
	if err != nil || found == nil {
		return &findings{}, err
	}
	f := &findings{offset: found[0].Offset, total: found[1].TotalHits}
	if err := found[0].Hits.DecodeInto(&f.hits); err != nil {
		return nil, err
	}
	return f, decodeFacets(found[1].FacetDistribution, &f.facets)
}

// find returns the results of each request, or nil if the index is empty.
func (x *Index) find(ctx context.Context, requests ...*upstream.SearchRequest) ([]upstream.SearchResponse, error) {
	found, err := x.multiSearch(ctx, &upstream.MultiSearchRequest{Queries: requests})
	if err != nil || found == nil {
		return nil, err
	}
	return found.Results, nil
}

// multiSearch sends a batch of searches and returns the results, or nil if the index is empty.
func (x *Index) multiSearch(ctx context.Context, r *upstream.MultiSearchRequest) (*upstream.MultiSearchResponse, error) {
	found, err := x.server.MultiSearchWithContext(ctx, r)
	if isMissing(err) || hasCode(err, "invalid_search_attributes_to_search_on") && x.isEmpty(ctx) {
		return nil, nil
	}
	return found, err
}

// isEmpty reports whether the index is empty. Then Meilisearch rejects attributes as not searchable.
func (x *Index) isEmpty(ctx context.Context) bool {
	stats, err := x.stats(ctx)
	return err == nil && stats.NumberOfDocuments == 0
}

// A hit is a document in the results.
type hit struct {
	ID        string  `json:"id"`
	Published string  `json:"published"`
	Story     string  `json:"story"`
	Score     float64 `json:"_rankingScore"`
}

// results returns the page after the cursor.
func (s *search) results(found *findings) storage.Results {
	var begin int64
	hits := found.hits
	if s.byPlace() && s.after.Place > 0 {
		begin = s.after.Place - found.offset
		if i := slices.IndexFunc(hits, func(h hit) bool { return h.ID == s.after.Key }); i >= 0 {
			begin = int64(i) + 1
		}
	}
	hits = hits[min(begin, int64(len(hits))):]

	var results storage.Results
	if size := s.query.PageSize(); len(hits) > size {
		hits = hits[:size]
		last := cursor{Query: s.query.Key(), Published: hits[size-1].Published, Key: hits[size-1].ID, Fuzzy: s.after.Fuzzy}
		if s.byPlace() {
			last.Place = found.offset + begin + int64(size)
		}
		results.Next = last.String()
	}
	for _, h := range hits {
		results.Hits = append(results.Hits, storage.Hit{ID: idOf(h.ID), Score: h.Score})
	}
	return results
}

// decodeFacets decodes the counts of facet values.
func decodeFacets(distribution json.RawMessage, into *map[string]map[string]int64) error {
	if len(distribution) == 0 {
		return nil
	}
	return json.Unmarshal(distribution, into)
}
