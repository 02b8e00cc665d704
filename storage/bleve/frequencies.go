package bleve

import (
	"cmp"
	"slices"
	"sync"

	segmentapi "github.com/blevesearch/scorch_segment_api/v2"
)

const (
	maxTop     = 100    // terms cached per prefix and segment
	maxWalked  = 50_000 // terms scanned to find them
	maxTops    = 256    // prefixes cached per segment
	maxLetters = 64     // bytes of a prefix that are used
)

// frequencies maps terms to the number of documents with them, including deleted documents.
type frequencies map[string]uint64

// A frequency is a term and its number of documents.
type frequency struct {
	term string
	docs uint64
}

// walk adds the terms of a segment's field that have the given prefix and that the automaton accepts; nil
// accepts all.
func (f frequencies) walk(s *segment, field string, accepts segmentapi.Automaton, begin string) error {
	dict, err := s.dict(field)
	if err != nil {
		return err
	}
	terms := dict.AutomatonIterator(accepts, []byte(begin), after(begin))
	for range maxWalked {
		term, err := terms.Next()
		if term == nil || err != nil {
			return err
		}
		f[term.Term] += term.Count
	}
	return nil
}

// after returns the least key after all keys with a prefix; nil if there is none.
func after(begin string) []byte {
	b := []byte(begin)
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return nil
	}
	b[len(b)-1]++
	return b
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
func (s *segment) beginning(field, begin string) ([]frequency, error) {
	t, key := &s.tops, [2]string{field, begin}
	t.mu.Lock()
	most, ok := t.most[key]
	t.mu.Unlock()
	if ok {
		return most, nil
	}
	all := make(frequencies)
	if err := all.walk(s, field, nil, begin); err != nil {
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
func beginningIn(segs []*segment, begin string, limit int, fields ...string) ([]frequency, error) {
	if len(begin) > maxLetters {
		return nil, nil
	}
	all := make(frequencies)
	for _, s := range segs {
		for _, field := range fields {
			most, err := s.beginning(field, begin)
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
