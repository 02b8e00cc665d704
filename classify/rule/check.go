package rule

import (
	"fmt"

	"feedmesh/classify/expression"
)

// matchesEmpty reports whether a condition holds for a document in which no term occurs and no fact holds.
// Written as alternatives of terms and negated terms, such a condition has an alternative of negated terms
// only.
func matchesEmpty(x Expr) bool { return expression.Holds(x, func(Expr, bool) bool { return false }) }

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
