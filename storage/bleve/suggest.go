package bleve

import (
	"context"
	"fmt"
	"strings"

	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// Suggest implements [storage.Index].
func (x *Index) Suggest(ctx context.Context, prefix string, limit int) (words []storage.FacetCount, err error) {
	words = []storage.FacetCount{}
	begin := strings.ToLower(prefix)
	if sought := query.Sought(prefix); len(sought) == 1 {
		begin = sought[0].Text // as words are compared
	}
	if begin == "" || limit <= 0 {
		return words, ctx.Err()
	}
	err = x.view(ctx, func(now bleveindex.IndexReader) error {
		segs, err := x.segmentsOf(now)
		if err != nil {
			return err
		}
		most, err := beginningIn(segs, begin, min(limit, maxTop), fieldTitleWord)
		for _, one := range most {
			words = append(words, storage.FacetCount{Value: one.term, Count: int64(one.docs)})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("suggest words: %w", err)
	}
	return words, nil
}
