package meilisearch

import (
	"context"
	"slices"
	"strings"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
)

// typoRequests returns the requests of the branches with typos allowed: in the words that no document has, or,
// if all occur, in all words. Meilisearch counts a typo in the first letter as two. It returns nil if no word
// allows typos.
func (s *search) typoRequests(ctx context.Context, branches []branch) ([]*upstream.SearchRequest, error) {
	missing, err := s.missing(ctx, typoWords(branches))
	if err != nil || missing == nil {
		return nil, err
	}
	var requests []*upstream.SearchRequest
	for _, b := range s.prepared(branches) {
		requests = append(requests, s.typoRequest(b, missing))
	}
	return requests, nil
}

// typoRequest returns the request for the branch with typos allowed in words. All words must be of one
// part, since Meilisearch searches all words in the same attributes.
func (s *search) typoRequest(b branch, words map[string]bool) *upstream.SearchRequest {
	var loose []string
	part, strict := looseIn(b, words), b
	strict.must = slices.DeleteFunc(slices.Clone(b.must), func(t term) bool {
		if !words[t.word] || t.in != part || len(loose) == maxPhrases-2 {
			return false
		}
		loose = append(loose, t.word)
		return true
	})
	r := strict.request()
	if len(loose) == 0 {
		return r
	}
	// In front, so that the last word stays the prefix. A space at the end marks that there is no prefix.
	r.Query = strings.TrimSpace(strict.negative() + " " + strings.Join(loose, " ") + " " + strict.positive(maxPhrases-len(loose)))
	if strict.begin == "" {
		r.Query += " "
	}
	r.MatchingStrategy = upstream.All
	r.AttributesToSearchOn = names(slices.Concat(writtenIn(part), stemAttributes)...)
	return r
}

// looseIn returns the part in which typos are allowed, if any.
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

// typoWords returns the words of the branches that allow typos.
func typoWords(branches []branch) []term {
	var terms []term
	for _, b := range branches {
		for _, t := range b.must {
			if t.word != "" && !slices.Contains(terms, t) && len(terms) < maxTypoWords {
				terms = append(terms, t)
			}
		}
	}
	return terms
}

// maxTypoWords bounds the words with typos.
const maxTypoWords = 30

// missing returns the words that no document has, or all words if all occur; nil for no words.
func (s *search) missing(ctx context.Context, terms []term) (map[string]bool, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	var requests []*upstream.SearchRequest
	for _, t := range terms {
		requests = append(requests, counted(branch{must: []term{t}}))
	}
	found, err := s.findIn(ctx, s.in, requests...)
	if err != nil || found == nil {
		return nil, err
	}
	missing, all := map[string]bool{}, map[string]bool{}
	for i, t := range terms {
		if all[t.word] = true; found[i].total == 0 {
			missing[t.word] = true
		}
	}
	if len(missing) == 0 {
		return all, nil
	}
	return missing, nil
}
