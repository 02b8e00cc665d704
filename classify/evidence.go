package classify

import (
	"cmp"
	"slices"

	"feedmesh/classify/rule"
)

// addHit adds a hit to the list of a rule.
func (f *evaluation) addHit(rank int32, h hit) {
	r := &f.hitLists[rank]
	if r.stamp != f.stamp {
		*r = hitList{f.stamp, -1}
	}
	h.next, r.first = r.first, int32(len(f.allHits))
	f.allHits = append(f.allHits, h)
}

// collectHits copies the hits of a rule to ruleHits, best fields first. Forms of one word count once, in the
// best field of any.
func (f *evaluation) collectHits(rank int32, m *sectionState) {
	f.ruleHits = f.ruleHits[:0]
	if f.hitLists[rank].stamp != f.stamp {
		return
	}
	for i := f.hitLists[rank].first; i >= 0; i = f.allHits[i].next {
		f.ruleHits = append(f.ruleHits, f.allHits[i])
	}
	if len(f.ruleHits) < 2 {
		return
	}
	slices.SortFunc(f.ruleHits, func(a, b hit) int {
		return cmp.Or(int(a.fieldRank)-int(b.fieldRank), int(a.at)-int(b.at))
	})
	if m.countStamp++; m.countStamp == 0 {
		clear(m.counted)
		m.countStamp = 1
	}
	f.ruleHits = slices.DeleteFunc(f.ruleHits, func(h hit) bool {
		form := &m.counted[m.words.canonical[h.pattern]]
		counted := *form == m.countStamp
		*form = m.countStamp
		return counted
	})
}

// scoreHits returns the points of the hits.
func (f *evaluation) scoreHits(score points) (strong, body points) {
	for _, h := range f.ruleHits {
		if f := &rule.Fields[fieldRanks[h.fieldRank]]; f.Mentions {
			body += score * points(f.Worth)
		} else {
			strong += score * points(f.Worth)
		}
	}
	if strong == 0 && body == 0 {
		strong = factWorth * score
	}
	return strong, body
}

const maxEvidence = 3

// addEvidence appends the best hits, then facts that hold, up to maxEvidence.
func (f *evaluation) addEvidence(facts []int32) {
	most := len(f.evidence) + maxEvidence
	for _, h := range f.ruleHits[:min(len(f.ruleHits), maxEvidence)] {
		f.evidence = append(f.evidence, evidenceRef{h.pattern, h.fieldRank})
	}
	for _, fact := range facts {
		if len(f.evidence) < most && f.facts[fact] == f.stamp {
			f.evidence = append(f.evidence, evidenceRef{pattern: ^fact})
		}
	}
}
