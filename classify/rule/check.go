package rule

import (
	"fmt"
	"slices"
)

// holdsOfNothing reports whether a condition holds of a document that has none of
// what it asks for. Then, and only then, it is one that is met by lacking things
// alone: written as alternatives of terms and denied terms, one has denied terms only.
func holdsOfNothing(x Expr) bool {
	switch x := x.(type) {
	case *Not:
		return !holdsOfNothing(x.X)
	case *And:
		return !slices.ContainsFunc(x.Of, func(x Expr) bool { return !holdsOfNothing(x) })
	case *Or:
		return slices.ContainsFunc(x.Of, holdsOfNothing)
	case *AtLeast:
		n := 0
		for _, x := range x.Of {
			if holdsOfNothing(x) {
				n++
			}
		}
		return n >= x.N
	}
	return false
}

// check returns what is wrong with the rules together. Facts that a rule with a
// fault would conclude are known, so that one fault is not named as two.
func (s *Set) check(known map[string]bool) Faults {
	var faults Faults
	for _, r := range s.Rules {
		for f := range facts(r.When) {
			if f.Of == Known && !known[f.Name] && len(faults) < maxFaults {
				faults = append(faults, Fault{f.Pos, fmt.Sprintf("no rule concludes fact %s: write one that begins with \"fact %s when\"", f.Name, f.Name)})
			}
		}
	}
	_, cycles := s.sort()
	return append(faults, cycles...)
}
