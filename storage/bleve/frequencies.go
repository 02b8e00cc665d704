package bleve

import (
	"cmp"
	"slices"
	"sync"

	segmentapi "github.com/blevesearch/scorch_segment_api/v2"
)

const (
	maxTop     = 100    // terms of a segment that are remembered for a beginning
	maxWalked  = 50_000 // terms that are looked at to find them
	maxTops    = 256    // beginnings that are remembered for a segment
	maxLetters = 64     // bytes of a beginning that count
)

// Frequencies say how many documents have a term, deleted ones too.
type frequencies map[string]uint64

// A frequency is one of them.
type frequency struct {
	term string
	docs uint64
}

// walk adds the terms of a field of a segment that begin with the given letters
// and that the automaton accepts, if it is not nil.
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

// after returns what stands behind all that begins with the given letters; nil if
// nothing does.
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

// Tops remembers the most frequent terms of a segment by field and beginning:
// short beginnings are asked for again and again, and have many terms.
type tops struct {
	mu   sync.Mutex
	most map[[2]string][]frequency
}

// beginning returns the most frequent terms of a field that begin with the given
// letters. They may be fewer than there are, but never other ones.
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

// beginningIn returns the most frequent terms of fields of all segments that begin
// with the given letters, most frequent first.
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
