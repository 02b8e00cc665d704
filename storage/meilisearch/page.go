package meilisearch

import (
	"slices"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// A search is a running search.
type search struct {
	*connection
	query    storage.Query
	scored   bool
	after    cursor
	in       parts                     // to search
	searches []*upstream.SearchRequest // one request per branch; each finds complete results
}

// byPlace reports whether pages continue by place instead of by time: after a time come also further items of
// stories on earlier pages.
func (s *search) byPlace() bool { return s.scored || s.query.OnePerStory }

// slack is the number of places by which the last hit of a page may move, due to puts and deletes, without
// breaking the next page.
const slack = 30

// window returns the range of hits for a page: by place it starts slack places earlier, to find the last hit
// of the previous page again; it includes one more hit than fits, to detect a next page.
func (s *search) window() (offset, limit int64) {
	size := int64(s.query.PageSize())
	if !s.byPlace() || s.after.Place == 0 {
		return 0, size + 1
	}
	offset = max(0, s.after.Place-1-slack)
	return offset, s.after.Place - offset + slack + size + 1
}

// strict returns the requests of the branches without typos.
func (s *search) strict(branches []branch) []*upstream.SearchRequest {
	var requests []*upstream.SearchRequest
	for _, b := range s.prepared(branches) {
		requests = append(requests, b.request())
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

// pages returns the requests for the page, without its window.
func (s *search) pages() []*upstream.SearchRequest {
	requests := make([]*upstream.SearchRequest, len(s.searches))
	for i, r := range s.searches {
		page := *r
		if s.scored {
			page.ShowRankingScore = true
		} else {
			page.Sort = []string{string(attrPublished) + ":desc", string(attrID) + ":asc"}
		}
		if !s.byPlace() && s.after.Key != "" {
			page.Filter = allOf(filterOf(r), s.after.behind()).request()
		}
		requests[i] = &page
	}
	return requests
}

// filterOf returns the filter of a request.
func filterOf(r *upstream.SearchRequest) condition {
	expression, _ := r.Filter.(string)
	return condition{expression}
}

// behind returns the condition that a document comes after the cursor by time.
func (c cursor) behind() condition {
	return oneOf(compare(attrPublished, "<", c.Published),
		allOf(compare(attrPublished, "=", c.Published), compare(attrID, ">", c.Key)))
}

// facets returns the attributes to count.
func (s *search) facets() []string {
	if !s.query.Facets {
		return nil
	}
	facets := slices.Clone(storage.FacetNames)
	facets[slices.Index(facets, dayFacet)] = string(attrLatest)
	return facets
}

// findings are the results of requests.
type findings struct {
	hits   []hit
	offset int64 // of the first hit
	total  int64
	facets map[string]map[string]int64 // by attribute and value
}

// A hit is a document in the results.
type hit struct {
	ID         string  `json:"id"`
	Published  string  `json:"published"`
	Story      string  `json:"story"`
	Score      float64 `json:"_rankingScore"`
	Prominence int     `json:"prominence"`

	part string  // its name
	rank float64 // what hits are ordered by: the score, with a weight if the search has one
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
