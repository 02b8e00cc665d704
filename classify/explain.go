package classify

import (
	"cmp"
	"slices"

	"feedmesh/classify/rule"
)

// outcome builds the result of the evaluation.
func (f *evaluation) outcome() Outcome {
	var o Outcome
	if len(f.matched) == 0 {
		return o
	}
	all := f.explain()
	o.Labels = f.rankLabels(all)
	o.Matched = f.inSetOrder(all)
	var score points
	for _, n := range f.matched {
		switch r := &f.rules.rules[n.rule]; r.action {
		case rule.AddScore:
			score += r.score
		case rule.Star:
			o.Star = true
		case rule.Mute:
			o.Mute = true
		case rule.Quarantine:
			o.Quarantine = true
		case rule.Notify:
			o.Notify = append(o.Notify, cmp.Or(f.rules.infos[n.rule].text, f.rules.infos[n.rule].place))
		}
	}
	o.Score = score.score()
	return o
}

// explain returns the matched rules in the order of evaluation.
func (f *evaluation) explain() []RuleMatch {
	evidence := make([]Evidence, len(f.evidence))
	all := make([]RuleMatch, len(f.matched))
	at := int32(0)
	for i, n := range f.matched {
		r := &f.rules.rules[n.rule]
		m := f.sections[r.section]
		for j := at; j < n.evidenceEnd; j++ {
			if h := f.evidence[j]; h.pattern < 0 {
				evidence[j] = Evidence{Words: f.rules.facts[^h.pattern]}
			} else {
				evidence[j] = Evidence{m.shown[h.pattern], fieldRanks[h.fieldRank].String()}
			}
		}
		all[i] = RuleMatch{f.rules.infos[n.rule].place, evidence[at:n.evidenceEnd:n.evidenceEnd], n.points.score()}
		at = n.evidenceEnd
	}
	return all
}

// rankLabels returns the labels that have points, most points first.
func (f *evaluation) rankLabels(all []RuleMatch) []Label {
	if len(f.scored) == 0 {
		return nil
	}
	f.ranking = f.ranking[:0]
	reasons := 0
	for _, n := range f.scored {
		s := &f.sums[n]
		f.ranking = append(f.ranking, uint64(mostPoints-s.total())<<labelBits|uint64(n))
		if s.n > 1 {
			reasons += s.n
		}
	}
	slices.Sort(f.ranking)
	why := make([]RuleMatch, 0, reasons)
	list := make([]Label, len(f.ranking))
	for i, key := range f.ranking {
		n := key % (1 << labelBits)
		s := &f.sums[n]
		l := &f.rules.labels[n]
		list[i] = Label{l.topic, l.name, s.total().score(), nil}
		if s.n == 1 { // the usual case: share the slice instead of copying
			list[i].Matches = all[s.best[0] : s.best[0]+1 : s.best[0]+1]
			continue
		}
		start := len(why)
		for _, at := range s.best[:s.n] {
			why = append(why, all[at])
		}
		list[i].Matches = why[start:len(why):len(why)]
	}
	return list
}

// Labels are sorted as integers, which is fast to compare: the difference from mostPoints in the high bits,
// the label's number in the low bits.
const (
	labelBits  = 16
	mostPoints = points(1)<<(63-labelBits) - 1
)

// inSetOrder returns the matched rules in the order of the set, which usually is the order of evaluation.
func (f *evaluation) inSetOrder(all []RuleMatch) []RuleMatch {
	byRule := func(a, b matchedRule) int { return cmp.Compare(a.rule, b.rule) }
	if slices.IsSortedFunc(f.matched, byRule) {
		return all
	}
	at := make(map[int32]int, len(all))
	for i, n := range f.matched {
		at[n.rule] = i
	}
	slices.SortFunc(f.matched, byRule)
	sorted := make([]RuleMatch, len(all))
	for i, n := range f.matched {
		sorted[i] = all[at[n.rule]]
	}
	return sorted
}
