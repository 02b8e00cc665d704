package rule

import (
	"fmt"
	"slices"
)

// matchesEmpty reports whether a condition holds for a document in which no term occurs and no fact holds.
// Written as alternatives of terms and negated terms, such a condition has an alternative of negated terms
// only.
func matchesEmpty(x Expr) bool {
	switch x := x.(type) {
	case *Not:
		return !matchesEmpty(x.X)
	case *And:
		return !slices.ContainsFunc(x.Operands, func(x Expr) bool { return !matchesEmpty(x) })
	case *Or:
		return slices.ContainsFunc(x.Operands, matchesEmpty)
	case *AtLeast:
		n := 0
		for _, x := range x.Operands {
			if matchesEmpty(x) {
				n++
			}
		}
		return n >= x.N
	}
	return false
}

// check returns the problems of the rules as a set. Facts that a rejected rule would conclude count as
// concluded, so that one problem is not reported twice.
func (s *Set) check(concluded map[string]bool) Diagnostics {
	var faults Diagnostics
	for _, r := range s.Rules {
		for f := range facts(r.Condition) {
			if f.Kind == NamedFact && !concluded[f.Name] && len(faults) < maxDiagnostics {
				faults = append(faults, Diagnostic{f.Pos, fmt.Sprintf("no rule concludes fact %s: add a rule that begins with \"fact %s when\"", f.Name, f.Name)})
			}
		}
	}
	_, cycles := s.sort()
	return append(faults, cycles...)
}
