package bleve

import (
	"context"
	"fmt"
	"strings"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// Suggest implements [storage.Index].
func (x *Index) Suggest(ctx context.Context, prefix string, limit int) (words []storage.FacetCount, err error) {
	words = []storage.FacetCount{}
	begin := strings.ToLower(prefix)
	if queryWords := query.QueryWords(prefix); len(queryWords) == 1 {
		begin = queryWords[0].Text // normalized like indexed words
	}
	if begin == "" || limit <= 0 {
		return words, ctx.Err()
	}
	err = x.view(ctx, func(now *searchState) error {
		segs, err := x.segmentsOf(now)
		if err != nil {
			return err
		}
		// More than requested, since some may occur in deleted items only.
		most, err := beginningIn(segs, begin, min(2*min(limit, maxTop), maxTop), fieldTitleWord)
		if err != nil {
			return err
		}
		for _, one := range most {
			if len(words) == limit {
				return nil
			}
			live, err := isLive(segs, fieldTitleWord, one.term)
			if err != nil {
				return err
			}
			if live {
				words = append(words, storage.FacetCount{Value: one.term, Count: int64(one.docs)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("suggest words: %w", err)
	}
	return words, nil
}

// isLive reports whether an item that is not deleted has the term.
func isLive(segs []*segment, field, term string) (bool, error) {
	for _, s := range segs {
		if n, err := s.count(field, term); n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}
