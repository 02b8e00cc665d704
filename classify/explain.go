package classify

import (
	"cmp"
	"slices"

	"feedmesh/classify/rule"
)

// outcome puts together what was found.
func (f *firing) outcome() Outcome {
	var o Outcome
	if len(f.fired) == 0 {
		return o
	}
	all := f.explain()
	o.Labels = f.labels(all)
	o.Fired = f.inOrder(all)
	var score points
	for _, n := range f.fired {
		switch r := &f.rules.rules[n.rule]; r.does {
		case rule.AddScore:
			score += r.score
		case rule.Star:
			o.Star = true
		case rule.Mute:
			o.Mute = true
		case rule.Quarantine:
			o.Quarantine = true
		case rule.Notify:
			o.Notify = append(o.Notify, cmp.Or(f.rules.notes[n.rule].text, f.rules.notes[n.rule].place))
		}
	}
	o.Score = score.score()
	return o
}

// explain returns what fired, in the order of evaluation.
func (f *firing) explain() []Fired {
	evidence := make([]Evidence, len(f.proofs))
	all := make([]Fired, len(f.fired))
	at := int32(0)
	for i, n := range f.fired {
		r := &f.rules.rules[n.rule]
		m := f.matchings[r.section]
		for j := at; j < n.proofs; j++ {
			if h := f.proofs[j]; h.pattern < 0 {
				evidence[j] = Evidence{Words: f.rules.facts[^h.pattern]}
			} else {
				evidence[j] = Evidence{m.shown[h.pattern], rule.FieldNames[places[h.place].field]}
			}
		}
		all[i] = Fired{f.rules.notes[n.rule].place, evidence[at:n.proofs:n.proofs], n.points.score()}
		at = n.proofs
	}
	return all
}

// labels returns the labels that have points.
func (f *firing) labels(all []Fired) []Label {
	if len(f.given) == 0 {
		return nil
	}
	f.ranking = f.ranking[:0]
	reasons := 0
	for _, n := range f.given {
		s := &f.sums[n]
		f.ranking = append(f.ranking, uint64(mostPoints-s.total())<<labelBits|uint64(n))
		if s.n > 1 {
			reasons += s.n
		}
	}
	slices.Sort(f.ranking)
	why := make([]Fired, 0, reasons)
	list := make([]Label, len(f.ranking))
	for i, key := range f.ranking {
		n := key % (1 << labelBits)
		s := &f.sums[n]
		l := &f.rules.labels[n]
		list[i] = Label{l.topic, l.name, s.total().score(), nil}
		if s.n == 1 { // as most have, so it is not copied
			list[i].Why = all[s.best[0] : s.best[0]+1 : s.best[0]+1]
			continue
		}
		start := len(why)
		for _, at := range s.best[:s.n] {
			why = append(why, all[at])
		}
		list[i].Why = why[start:len(why):len(why)]
	}
	return list
}

// Labels are sorted as whole numbers, what they lack of the most points before
// their own number, as comparing two of these is quick.
const (
	labelBits  = 16
	mostPoints = points(1)<<(63-labelBits) - 1
)

// inOrder returns what fired in the order of the set, which that of evaluation
// most often is.
func (f *firing) inOrder(all []Fired) []Fired {
	byRule := func(a, b fired) int { return cmp.Compare(a.rule, b.rule) }
	if slices.IsSortedFunc(f.fired, byRule) {
		return all
	}
	at := make(map[int32]int, len(all))
	for i, n := range f.fired {
		at[n.rule] = i
	}
	slices.SortFunc(f.fired, byRule)
	sorted := make([]Fired, len(all))
	for i, n := range f.fired {
		sorted[i] = all[at[n.rule]]
	}
	return sorted
}
