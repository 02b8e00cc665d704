package spam

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"feedmesh/classify/stem"
)

// A scorer collects the evidence for and against spam in a document.
type scorer struct {
	filter      *Filter
	doc         *Document
	message     bool
	title, text []stem.Word
	sum         float64 // prior log-odds, then the total
	evidence    []evidence
	subtotal    float64    // score of lists and style, without learned words and history
	flags       []evidence // evidence for each flag
}

// evidence is one observation for or against spam.
type evidence struct {
	kind   string // evidence of the same kind is not independent
	text   string // description, or the phrase if field is set
	field  string // in which a phrase occurs
	where  place  // position in the lists; zero if the kind is a weight
	points float64
}

// describe returns the observation as text, for example `"free spins" in title`.
func (e evidence) describe() string {
	if e.field != "" {
		return strconv.Quote(e.text) + " in " + e.field
	}
	return e.text
}

// addEntry adds evidence from a list entry.
func (s *scorer) addEntry(e entry, share float64, what string) {
	s.evidence = append(s.evidence, evidence{kind: e.group, text: what, where: e.where, points: e.weight * share})
}

// addPhrase adds evidence from a phrase.
func (s *scorer) addPhrase(e entry, share float64, field string) {
	s.evidence = append(s.evidence, evidence{e.group, e.text, field, e.where, e.weight * share})
}

// addSignal adds evidence with a weight of weights.txt, multiplied by share, 0 to 1.
func (s *scorer) addSignal(w weight, share float64, what string) {
	if share > 0 {
		s.evidence = append(s.evidence, evidence{kind: weightNames[w], text: what, points: s.filter.weights[w] * share})
	}
}

// total returns the sum of the evidence.
func (s *scorer) total() (sum float64) {
	for _, e := range s.evidence {
		sum += e.points
	}
	return sum
}

// compareWeight orders evidence by absolute points, largest first.
func compareWeight(a, b evidence) int { return cmp.Compare(math.Abs(b.points), math.Abs(a.points)) }

// repeatShare is the share of its points that each further evidence of a kind keeps, relative to the one
// before it.
const repeatShare = 0.6

// discount reduces the points of each further evidence of a kind.
func discount(list []evidence) {
	slices.SortStableFunc(list, func(a, b evidence) int { return cmp.Or(cmp.Compare(a.kind, b.kind), compareWeight(a, b)) })
	share := 1.0
	for i := range list {
		if share *= repeatShare; i == 0 || list[i].kind != list[i-1].kind {
			share = 1
		}
		list[i].points = math.Round(list[i].points*share*1000) / 1000
	}
}

func (s *scorer) verdict() Verdict {
	slices.SortStableFunc(s.evidence, compareWeight)
	for _, e := range s.evidence {
		s.sum += e.points
	}
	v := Verdict{Score: logistic(s.sum), evidence: s.evidence}
	for len(v.evidence) > 0 && v.evidence[len(v.evidence)-1].points == 0 { // trailing evidence without points
		v.evidence = v.evidence[:len(v.evidence)-1]
	}
	slices.SortStableFunc(s.flags, func(a, b evidence) int { return cmp.Compare(a.kind, b.kind) })
	v.flagged = slices.CompactFunc(s.flags, func(a, b evidence) bool { return a.kind == b.kind })
	for _, e := range v.flagged {
		v.Flags = append(v.Flags, e.kind)
	}
	return v
}

// String formats the evidence, for example `spam: casino "free spins" in title (phrases.txt:12) +2.0`.
func (e evidence) String() string {
	return fmt.Sprintf("spam: %s %s%s %+.1f", e.kind, e.describe(), e.where, e.points)
}

// logistic converts log-odds to a probability, rounded so that machines with different floating-point
// rounding agree.
func logistic(odds float64) float64 {
	return math.Round(1000/(1+math.Exp(-odds))) / 1000
}
