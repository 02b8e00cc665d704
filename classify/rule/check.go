package rule

import "fmt"

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
