package meilisearch

import (
	"context"
	"slices"
	"strings"
)

// An expander looks up the words that have a prefix.
type expander struct{ *search }

// expanded replaces prefixes that Meilisearch cannot search: it supports a prefix only for the last word, and
// not in negations. Such a prefix becomes the words that it matches.
func (e expander) expanded(ctx context.Context, branches []branch) ([]branch, error) {
	var all []branch
	for _, b := range branches {
		some, err := e.expand(ctx, b)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all[:min(len(all), maxBranches)], nil
}

func (e expander) expand(ctx context.Context, b branch) ([]branch, error) {
	for _, u := range b.unlike {
		words, err := e.completions(ctx, u.begin)
		if err != nil {
			return nil, err
		}
		for _, w := range words {
			b.not = append(slices.Clip(b.not), append(slices.Clone(u.tokens), w))
		}
	}
	begins := b.begins
	b.unlike, b.begins = nil, nil
	branches := []branch{b}
	for _, begin := range begins {
		words, err := e.completions(ctx, begin)
		if err != nil {
			return nil, err
		}
		var each []branch
		for _, w := range words {
			each = append(each, branch{must: []term{{token: w}}})
		}
		branches = product(branches, each)
	}
	return branches, nil
}

// maxCompletions bounds the words searched for a prefix, in at most maxRounds rounds of some documents each.
const (
	maxCompletions  = 100
	maxRounds       = 5
	documentsARound = 50
)

// completions returns tokens with a prefix. Each round reads documents with none of the tokens found before.
func (e expander) completions(ctx context.Context, begin string) ([]string, error) {
	var found []string
	for range maxRounds {
		some, err := e.moreCompletions(ctx, begin, found)
		if err != nil || len(some) == 0 {
			return found, err
		}
		if found = append(found, some...); len(found) > maxCompletions {
			return found[:maxCompletions], nil
		}
	}
	return found, nil
}

// moreCompletions returns tokens with a prefix, from documents with none of the known tokens.
func (e expander) moreCompletions(ctx context.Context, begin string, completions []string) ([]string, error) {
	b := branch{begin: begin}
	for _, token := range completions {
		b.not = append(b.not, []string{token})
	}
	r := b.request()
	r.Limit = documentsARound
	found, err := e.findIn(ctx, e.in, r)
	if err != nil || found == nil {
		return nil, err
	}
	docs, err := e.documents(ctx, found[0].hits, attrStems)
	if err != nil {
		return nil, err
	}
	var tokens []string
	for _, d := range docs {
		for _, token := range strings.Fields(strings.Join(d.Stems, " ")) {
			if strings.HasPrefix(token, begin) {
				tokens = append(tokens, token)
			}
		}
	}
	return unique(tokens), nil
}
