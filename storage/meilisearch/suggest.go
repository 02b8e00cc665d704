package meilisearch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// longestSuggested is the longest word that is suggested, in characters: who types
// longer ones has pasted them.
const longestSuggested = 40

// suggested returns the words of a title that are suggested, each once.
func suggested(title []query.Word) []string {
	var words []string
	for _, w := range title {
		if utf8.RuneCountInString(w.Text) <= longestSuggested {
			words = append(words, w.Text)
		}
	}
	return unique(words)
}

// Suggest implements [storage.Index]. Meilisearch keeps a list of all the words of
// titles, and gives the most frequent 100 that begin so.
func (x *Index) Suggest(ctx context.Context, prefix string, limit int) ([]storage.FacetCount, error) {
	begun := query.Sought(prefix)
	if len(begun) != 1 || limit <= 0 || utf8.RuneCountInString(prefix) > longestSuggested {
		return nil, ctx.Err()
	}
	prefix = begun[0].Text
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	words, err := x.titleWords(within, prefix)
	if err != nil {
		return nil, x.failed(ctx, "suggest words", err)
	}
	words = slices.DeleteFunc(words, func(w storage.FacetCount) bool { return !strings.HasPrefix(w.Value, prefix) })
	slices.SortFunc(words, func(a, b storage.FacetCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return words[:min(len(words), limit)], nil
}

// titleWords returns words of titles that begin about so, and how many items have
// them.
func (x *Index) titleWords(ctx context.Context, prefix string) ([]storage.FacetCount, error) {
	answer, err := x.index.FacetSearchWithContext(ctx, &upstream.FacetSearchRequest{
		FacetName: string(attrTitleWords), FacetQuery: prefix,
	})
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found struct {
		Hits []storage.FacetCount `json:"facetHits"`
	}
	err = json.Unmarshal(*answer, &found)
	return found.Hits, err
}
