package meilisearch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	upstream "github.com/meilisearch/meilisearch-go"
	"golang.org/x/sync/errgroup"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// Suggest implements [storage.Index]. Meilisearch indexes all words of titles, and returns the 100 most
// frequent of a part with a prefix.
func (r reader) Suggest(ctx context.Context, prefix string, limit int) ([]storage.FacetCount, error) {
	queryWords := query.QueryWords(prefix)
	if len(queryWords) != 1 || limit <= 0 || utf8.RuneCountInString(prefix) > longestSuggested {
		return nil, ctx.Err()
	}
	prefix = queryWords[0].Text
	within, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	words, err := r.titleWords(within, prefix)
	if err != nil {
		return nil, r.failed(ctx, "suggest words", err)
	}
	words = slices.DeleteFunc(words, func(w storage.FacetCount) bool { return !strings.HasPrefix(w.Value, prefix) })
	slices.SortFunc(words, func(a, b storage.FacetCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return words[:min(len(words), limit)], nil
}

// titleWords returns words of titles with about the prefix, and their numbers of items.
func (r reader) titleWords(ctx context.Context, prefix string) ([]storage.FacetCount, error) {
	in, err := r.searched(ctx)
	if err != nil {
		return nil, err
	}
	in = in.recent()
	found := make([][]storage.FacetCount, len(in))
	group, ctx := errgroup.WithContext(ctx)
	for i, p := range in {
		group.Go(func() (err error) {
			found[i], err = r.titleWordsIn(ctx, p.name, prefix)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, w := range slices.Concat(found...) {
		counts[w.Value] += w.Count
	}
	all := make([]storage.FacetCount, 0, len(counts))
	for word, n := range counts {
		all = append(all, storage.FacetCount{Value: word, Count: n})
	}
	return all, nil
}

// titleWordsIn returns those of a part.
func (r reader) titleWordsIn(ctx context.Context, index, prefix string) ([]storage.FacetCount, error) {
	answer, err := r.server.Index(index).FacetSearchWithContext(ctx, &upstream.FacetSearchRequest{
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
