package bleve

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

const (
	maxTop    = 100    // terms cached per prefix and segment
	maxWalked = 50_000 // terms scanned to find them
	maxTops   = 256    // prefixes cached per segment
)

// frequencies maps terms to the number of documents with them, including deleted documents.
type frequencies map[string]uint64

// A frequency is a term and its number of documents.
type frequency struct {
	term string
	docs uint64
}

// walk adds the terms of a segment's field that have the given prefix and that the automaton accepts.
func (f frequencies) walk(ctx context.Context, s *segment, field string, accepts automaton, begin string) error {
	terms, err := s.terms(field, accepts, begin)
	if err != nil {
		return err
	}
	for i := range maxWalked {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		term, err := terms.Next()
		if term == nil || err != nil {
			return err
		}
		f[term.Term] += term.Count
	}
	return nil
}

// top returns at most limit terms, most frequent first, then by term.
func (f frequencies) top(limit int) []frequency {
	all := make([]frequency, 0, len(f))
	for term, docs := range f {
		all = append(all, frequency{term, docs})
	}
	slices.SortFunc(all, func(a, b frequency) int {
		return cmp.Or(cmp.Compare(b.docs, a.docs), cmp.Compare(a.term, b.term))
	})
	return slices.Clip(all[:min(len(all), limit)])
}

// tops caches the most frequent terms of a segment by field and prefix: short prefixes are requested often
// and have many terms.
type tops struct {
	mu   sync.Mutex
	most map[[2]string][]frequency
}

// beginning returns the most frequent terms of a field with a prefix, from the cache if possible. The scan is
// bounded, so terms may be missing.
func (s *segment) beginning(ctx context.Context, field, begin string) ([]frequency, error) {
	t, key := &s.tops, [2]string{field, begin}
	t.mu.Lock()
	most, ok := t.most[key]
	t.mu.Unlock()
	if ok {
		return most, nil
	}
	all := make(frequencies)
	if err := all.walk(ctx, s, field, shortTerms{}, begin); err != nil {
		return nil, err
	}
	most = all.top(maxTop)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.most == nil || len(t.most) == maxTops {
		t.most = make(map[[2]string][]frequency)
	}
	t.most[key] = most
	return most, nil
}

// beginningIn returns the most frequent terms with a prefix in fields of all segments, most frequent first.
func beginningIn(ctx context.Context, segs []*segment, begin string, limit int, fields ...string) ([]frequency, error) {
	if len(begin) > query.MaxWord {
		return nil, nil
	}
	all := make(frequencies)
	for _, s := range segs {
		for _, field := range fields {
			most, err := s.beginning(ctx, field, begin)
			if err != nil {
				return nil, err
			}
			for _, one := range most {
				all[one.term] += one.docs
			}
		}
	}
	return all.top(limit), nil
}

// suggestIn returns at most limit title words with the prefix, see [storage.Index].
func suggestIn(ctx context.Context, segs []*segment, prefix string, limit int) ([]storage.FacetCount, error) {
	words := []storage.FacetCount{}
	begin := strings.ToLower(prefix)
	if queryWords := query.QueryWords(prefix); len(queryWords) == 1 {
		begin = queryWords[0].Text // normalized like indexed words
	}
	if begin == "" || limit <= 0 {
		return words, nil
	}
	// More than requested, since some may occur in deleted items only.
	most, err := beginningIn(ctx, segs, begin, min(2*min(limit, maxTop), maxTop), fieldTitleWord)
	if err != nil {
		return nil, err
	}
	for _, one := range most {
		if len(words) == limit {
			break
		}
		live, err := isLive(ctx, segs, fieldTitleWord, one.term)
		if err != nil {
			return nil, err
		}
		if live {
			words = append(words, storage.FacetCount{Value: one.term, Count: int64(one.docs)})
		}
	}
	return words, nil
}

// isLive reports whether an item that is not deleted has the term.
func isLive(ctx context.Context, segs []*segment, field, term string) (bool, error) {
	for _, s := range segs {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if n, err := s.count(field, term); n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}
