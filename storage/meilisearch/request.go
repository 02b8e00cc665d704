package meilisearch

import (
	"strings"

	upstream "github.com/meilisearch/meilisearch-go"
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

// counted returns a request for the exact number of the documents of the branch, without the documents.
func counted(b branch) *upstream.SearchRequest { return totalsOf(b.request()) }

// totalsOf returns a request for the exact number of the documents of another, and for facets, without the documents.
func totalsOf(r *upstream.SearchRequest, facets ...string) *upstream.SearchRequest {
	totals := *r
	totals.HitsPerPage, totals.Facets = new(int64), facets
	return &totals
}

// hitAttributes are the attributes of a [hit].
var hitAttributes = names(attrID, attrPublished, attrStory, attrProminence)

// request returns a request for the documents of the branch.
func (b branch) request() *upstream.SearchRequest {
	r := &upstream.SearchRequest{Filter: b.only.request(), AttributesToRetrieve: hitAttributes}
	if r.Query = b.text(); r.Query != "" {
		r.MatchingStrategy = upstream.All
		r.AttributesToSearchOn = names(stemAttributes...)
	}
	return r
}
