package spam

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"feedmesh/classify/stem"
)

// Scales hold the evidence for and against a document.
type scales struct {
	filter      *Filter
	doc         *Document
	message     bool
	title, text []stem.Word
	sum         float64 // what speaks before anything is looked at
	evidence    []evidence
	found       float64    // what the lists and looks say
	flags       []evidence // what a flag was found by
}

// Evidence is one piece of what speaks for spam, or against it.
type evidence struct {
	kind   string // pieces of one kind are not independent
	what   string // in words
	where  place  // in the lists; zero where a weight tells all
	points float64
}

// add puts evidence of a group of the lists on the scales.
func (s *scales) add(e entry, share float64, what string) {
	s.evidence = append(s.evidence, evidence{e.group, what, e.where, e.weight * share})
}

// look puts evidence on the scales that a weight names, as strong as share says,
// 0 to 1.
func (s *scales) look(w weight, share float64, what string) {
	if share > 0 {
		s.evidence = append(s.evidence, evidence{kind: weightNames[w], what: what, points: s.filter.weights[w] * share})
	}
}

// total returns what the evidence comes to.
func (s *scales) total() (sum float64) {
	for _, e := range s.evidence {
		sum += e.points
	}
	return sum
}

// heavier orders evidence by what it counts, the most first.
func heavier(a, b evidence) int { return cmp.Compare(math.Abs(b.points), math.Abs(a.points)) }

// further is how much of its weight each further piece of evidence of a kind keeps,
// compared with the one before it.
const further = 0.6

// discount makes each further piece of evidence of a kind count less.
func discount(list []evidence) {
	slices.SortStableFunc(list, func(a, b evidence) int { return cmp.Or(cmp.Compare(a.kind, b.kind), heavier(a, b)) })
	share := 1.0
	for i := range list {
		if share *= further; i == 0 || list[i].kind != list[i-1].kind {
			share = 1
		}
		list[i].points = math.Round(list[i].points*share*1000) / 1000
	}
}

func (s *scales) verdict() Verdict {
	slices.SortStableFunc(s.evidence, heavier)
	var v Verdict
	for _, e := range s.evidence {
		s.sum += e.points
		if e.points != 0 && len(v.Why) < maxWhy {
			v.Why = append(v.Why, e.String())
		}
	}
	v.Score = logistic(s.sum)
	flags, why := s.flagged()
	v.Flags = flags
	v.Why = append(v.Why[:min(len(v.Why), maxWhy-len(why))], why...)
	return v
}

// flagged returns the flags of the document by name, and the first reason of each.
func (s *scales) flagged() (names, why []string) {
	slices.SortStableFunc(s.flags, func(a, b evidence) int { return cmp.Compare(a.kind, b.kind) })
	for i, e := range s.flags {
		if i == 0 || e.kind != s.flags[i-1].kind {
			names = append(names, e.kind)
			why = append(why, fmt.Sprintf("%s: %s%s", e.kind, e.what, e.where))
		}
	}
	return names, why
}

// String is as in `spam: casino "free spins" in title (phrases.txt:12) +2.0`.
func (e evidence) String() string {
	return fmt.Sprintf("spam: %s %s%s %+.1f", e.kind, e.what, e.where, e.points)
}
