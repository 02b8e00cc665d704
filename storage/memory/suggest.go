package memory

import (
	"context"
	"strings"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// Suggest implements [storage.Index].
func (x *Index) Suggest(ctx context.Context, prefix string, limit int) ([]storage.FacetCount, error) {
	words := query.QueryWords(prefix)
	if err := ctx.Err(); err != nil || len(words) != 1 {
		return nil, err
	}
	prefix = words[0].Text
	x.mu.RLock()
	defer x.mu.RUnlock()
	counts := map[string]int64{}
	for _, it := range x.items {
		seen := map[string]bool{}
		for _, w := range query.Words(it.doc.Title) {
			if strings.HasPrefix(w.Text, prefix) && !seen[w.Text] {
				seen[w.Text] = true
				counts[w.Text]++
			}
		}
	}
	return topOf(counts, byCount, limit), nil
}
