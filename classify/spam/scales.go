package spam

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

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
	field  string // that a phrase is in; then what is the phrase
	where  place  // in the lists; zero where a weight tells all
	points float64
}

// words says what was found, as in `"free spins" in title`.
func (e evidence) words() string {
	if e.field != "" {
		return strconv.Quote(e.what) + " in " + e.field
	}
	return e.what
}

// add puts evidence of a group of the lists on the scales.
func (s *scales) add(e entry, share float64, what string) {
	s.evidence = append(s.evidence, evidence{kind: e.group, what: what, where: e.where, points: e.weight * share})
}

// phrase puts the phrase of an entry on the scales.
func (s *scales) phrase(e entry, share float64, field string) {
	s.evidence = append(s.evidence, evidence{e.group, e.text, field, e.where, e.weight * share})
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
	for _, e := range s.evidence {
		s.sum += e.points
	}
	v := Verdict{Score: logistic(s.sum), evidence: s.evidence}
	for len(v.evidence) > 0 && v.evidence[len(v.evidence)-1].points == 0 { // the last ones say nothing
		v.evidence = v.evidence[:len(v.evidence)-1]
	}
	slices.SortStableFunc(s.flags, func(a, b evidence) int { return cmp.Compare(a.kind, b.kind) })
	v.flagged = slices.CompactFunc(s.flags, func(a, b evidence) bool { return a.kind == b.kind })
	for _, e := range v.flagged {
		v.Flags = append(v.Flags, e.kind)
	}
	return v
}

// String is as in `spam: casino "free spins" in title (phrases.txt:12) +2.0`.
func (e evidence) String() string {
	return fmt.Sprintf("spam: %s %s%s %+.1f", e.kind, e.words(), e.where, e.points)
}
