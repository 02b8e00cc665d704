package classify

import (
	"cmp"
	"slices"
)

// A hit is a term of a rule that occurs, and the first of its places.
type hit struct {
	pattern int32
	next    int32 // of the rule's, in spoken, or -1
	at      uint16
	place   uint8
}

// heard says where the hits of a rule begin in spoken.
type heard struct {
	stamp uint32
	first int32
}

// A proof is a pattern and its place, or ^fact.
type proof struct {
	pattern int32
	place   uint8
}

// hear keeps what speaks for a rule.
func (f *firing) hear(rank int32, h hit) {
	r := &f.heard[rank]
	if r.stamp != f.stamp {
		*r = heard{f.stamp, -1}
	}
	h.next, r.first = r.first, int32(len(f.spoken))
	f.spoken = append(f.spoken, h)
}

// collect takes what speaks for a rule, best places first. Forms of one word count
// once, in the best place of one.
func (f *firing) collect(rank int32, m *matching) {
	f.hits = f.hits[:0]
	if f.heard[rank].stamp != f.stamp {
		return
	}
	for i := f.heard[rank].first; i >= 0; i = f.spoken[i].next {
		f.hits = append(f.hits, f.spoken[i])
	}
	if len(f.hits) < 2 {
		return
	}
	slices.SortFunc(f.hits, func(a, b hit) int {
		return cmp.Or(int(a.place)-int(b.place), int(a.at)-int(b.at))
	})
	if m.choosing++; m.choosing == 0 {
		clear(m.chosen)
		m.choosing = 1
	}
	f.hits = slices.DeleteFunc(f.hits, func(h hit) bool {
		form := &m.chosen[m.words.same[h.pattern]]
		again := *form == m.choosing
		*form = m.choosing
		return again
	})
}

// weigh returns what the hits are worth.
func (f *firing) weigh(score points) (strong, body points) {
	for _, h := range f.hits {
		if p := &places[h.place]; p.body {
			body += score * p.worth
		} else {
			strong += score * p.worth
		}
	}
	if strong == 0 && body == 0 {
		strong = byFacts * score
	}
	return strong, body
}

const maxEvidence = 3

// prove keeps the best of the hits, then facts that are known.
func (f *firing) prove(facts []int32) {
	most := len(f.proofs) + maxEvidence
	for _, h := range f.hits[:min(len(f.hits), maxEvidence)] {
		f.proofs = append(f.proofs, proof{h.pattern, h.place})
	}
	for _, fact := range facts {
		if len(f.proofs) < most && f.facts[fact] == f.stamp {
			f.proofs = append(f.proofs, proof{pattern: ^fact})
		}
	}
}
