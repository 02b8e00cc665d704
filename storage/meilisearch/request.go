package meilisearch

import (
	"slices"
	"strings"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// maxPhrases is the most words or phrases of a query that Meilisearch heeds. Of
// what must not occur it heeds all that comes before.
const maxPhrases = 10

// text returns the branch's words as a query. Each token is a phrase of its own:
// phrases match without typos, and to their end, as only the last word does not.
func (b branch) text() string { return strings.TrimSpace(b.negative() + " " + b.positive(maxPhrases)) }

// negative returns what must not occur.
func (b branch) negative() string {
	var all []string
	for _, tokens := range b.not {
		all = append(all, `-"`+strings.Join(tokens, " ")+`"`)
	}
	return strings.Join(all, " ")
}

// positive returns what must occur, as at most so many phrases and words.
func (b branch) positive(room int) string {
	if b.begin == "" {
		return strings.Join(phrases(tokens(b.must), room), " ")
	}
	return strings.Join(append(phrases(tokens(b.must), room-1), b.begin), " ")
}

// phrases returns the tokens as at most so many phrases. If there are more tokens,
// the last phrase has all that are left: where Meilisearch keeps no distances, a
// phrase matches where its words occur in one attribute, in whatever order, and
// attrStems has them all.
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

// A search is one that is under way.
type search struct {
	*Index
	query  storage.Query
	scored bool
	after  cursor
	asks   []*upstream.SearchRequest // one of each branch, of which what it finds is one whole
}

// byPlace reports whether a page begins at a place, not behind a time: behind a
// time is also the rest of stories that were on the page before.
func (s *search) byPlace() bool { return s.scored || s.query.Once }

// slack is by how many places the last hit of a page may have moved, for what
// was put or deleted since, and the next page yet begins after it.
const slack = 30

// window returns which of the hits a page needs: where it begins by place, those
// from before its place on, to find the last page's last hit again; and one more
// than fit in, which tells whether there is another page.
func (s *search) window() (offset, limit int64) {
	size := int64(s.query.PageSize())
	if !s.byPlace() || s.after.Place == 0 {
		return 0, size + 1
	}
	offset = max(0, s.after.Place-1-slack)
	return offset, s.after.Place - offset + slack + size + 1
}

// pages returns the requests for the page, but for its window.
func (s *search) pages() []*upstream.SearchRequest {
	requests := make([]*upstream.SearchRequest, len(s.asks))
	for i, r := range s.asks {
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

// filterOf returns the condition of a request.
func filterOf(r *upstream.SearchRequest) condition {
	expression, _ := r.Filter.(string)
	return condition{expression}
}

// behind returns the condition that a document comes after the cursor's by time.
func (c cursor) behind() condition {
	return oneOf(compare(attrPublished, "<", c.Published),
		allOf(compare(attrPublished, "=", c.Published), compare(attrID, ">", c.Key)))
}

// facets returns the attributes that are counted.
func (s *search) facets() []string {
	if !s.query.Facets {
		return nil
	}
	facets := slices.Clone(storage.FacetNames)
	facets[slices.Index(facets, dayFacet)] = string(attrLatest)
	return facets
}
