package meilisearch

import (
	"slices"
	"strings"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// maxPhrases is the number of words or phrases of a query that Meilisearch uses. All negative terms before
// them are used.
const maxPhrases = 10

// text returns the branch's words as a query. Each token is a phrase: phrases match without typos and as
// whole words, which the last plain word does not.
func (b branch) text() string { return strings.TrimSpace(b.negative() + " " + b.positive(maxPhrases)) }

// negative returns the excluded phrases.
func (b branch) negative() string {
	var all []string
	for _, tokens := range b.not {
		all = append(all, `-"`+strings.Join(tokens, " ")+`"`)
	}
	return strings.Join(all, " ")
}

// positive returns the required words as at most so many phrases and words.
func (b branch) positive(room int) string {
	if b.begin == "" {
		return strings.Join(phrases(tokens(b.must), room), " ")
	}
	return strings.Join(append(phrases(tokens(b.must), room-1), b.begin), " ")
}

// phrases returns the tokens as at most so many phrases. The last phrase contains all remaining tokens:
// without stored distances, a phrase matches if its words occur in one attribute in any order, and attrStems
// contains them all.
func phrases(tokens []string, room int) []string {
	var all []string
	for len(tokens) > 0 {
		n := 1
		if len(all) == room-1 {
			n = len(tokens)
		}
		all, tokens = append(all, `"`+strings.Join(tokens[:n], " ")+`"`), tokens[n:]
	}
	return all
}

// request returns a request for the documents of the branch.
func (x *Index) request(b branch) *upstream.SearchRequest {
	r := &upstream.SearchRequest{
		IndexUID: x.name, Filter: b.only.request(), AttributesToRetrieve: names(attrID, attrPublished, attrStory),
	}
	if r.Query = b.text(); r.Query != "" {
		r.MatchingStrategy = upstream.All
		r.AttributesToSearchOn = names(stemAttributes...)
	}
	return r
}

// A search is a running search.
type search struct {
	*Index
	query    storage.Query
	scored   bool
	after    cursor
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
