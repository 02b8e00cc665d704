package meilisearch

import (
	"context"
	"slices"
	"strings"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
)

// forgiving returns the requests for what the branches nearly find: with mistakes
// in those words that no document has, or, if all occur, in all. Mistakes are
// Meilisearch's, which counts one in the first letter as two. Nil if there is no
// word in which mistakes are forgiven.
func (s *search) forgiving(ctx context.Context, branches []branch) ([]*upstream.SearchRequest, error) {
	missing, err := s.missing(ctx, forgivable(branches))
	if err != nil || missing == nil {
		return nil, err
	}
	var requests []*upstream.SearchRequest
	for _, b := range s.prepared(branches) {
		requests = append(requests, s.forgivingRequest(b, missing))
	}
	return requests, nil
}

// forgivingRequest returns the request for the branch with mistakes in words. As
// Meilisearch looks for all words in the same parts, they are words of one part.
func (s *search) forgivingRequest(b branch, words map[string]bool) *upstream.SearchRequest {
	var loose []string
	part, strict := looseIn(b, words), b
	strict.must = slices.DeleteFunc(slices.Clone(b.must), func(t term) bool {
		if !words[t.word] || t.in != part || len(loose) == maxPhrases-2 {
			return false
		}
		loose = append(loose, t.word)
		return true
	})
	r := s.request(strict)
	if len(loose) == 0 {
		return r
	}
	// In front, so that the last word is still the one that may go on. A space
	// at the end says that no word does.
	r.Query = strings.TrimSpace(strict.negative() + " " + strings.Join(loose, " ") + " " + strict.positive(maxPhrases-len(loose)))
	if strict.begin == "" {
		r.Query += " "
	}
	r.MatchingStrategy = upstream.All
	r.AttributesToSearchOn = names(slices.Concat(partAttributes[part], stemAttributes)...)
	return r
}

// partAttributes have the words of parts as they are written.
var partAttributes = map[query.Part][]attribute{
	query.Anywhere: {attrTitle, attrTags, attrAuthor, attrText},
	query.Title:    {attrTitle},
	query.Author:   {attrAuthor},
}

// looseIn returns the part in which mistakes are forgiven, if in any.
func looseIn(b branch, words map[string]bool) query.Part {
	part := query.Anywhere
	for _, t := range b.must {
		if words[t.word] {
			if part = t.in; part == query.Anywhere {
				break
			}
		}
	}
	return part
}

// forgivable returns the words of the branches in which mistakes are forgiven.
func forgivable(branches []branch) []term {
	var terms []term
	for _, b := range branches {
		for _, t := range b.must {
			if t.word != "" && !slices.Contains(terms, t) && len(terms) < maxForgiven {
				terms = append(terms, t)
			}
		}
	}
	return terms
}

// maxForgiven is in how many words mistakes are forgiven.
const maxForgiven = 30

// missing returns those of the words that no document has, or all of them if all
// occur; nil if there are none.
func (s *search) missing(ctx context.Context, terms []term) (map[string]bool, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	var requests []*upstream.SearchRequest
	for _, t := range terms {
		r := s.request(branch{must: []term{t}})
		r.HitsPerPage = new(int64)
		requests = append(requests, r)
	}
	found, err := s.find(ctx, requests...)
	if err != nil || found == nil {
		return nil, err
	}
	missing, all := map[string]bool{}, map[string]bool{}
	for i, t := range terms {
		if all[t.word] = true; found[i].TotalHits == 0 {
			missing[t.word] = true
		}
	}
	if len(missing) == 0 {
		return all, nil
	}
	return missing, nil
}
