package classify

import (
	"fmt"
	"math"

	"feedmesh/classify/rule"
)

const (
	minScore = 0.0001 // the smallest that counts
	maxScore = 100.0
	maxDepth = 200 // of trees
)

// malformed returns what is wrong with the tree of a rule that no text could
// have, or "".
func malformed(r *rule.Rule) string {
	switch {
	case !(r.Score >= minScore && r.Score <= maxScore) || !(math.Abs(r.Then.Score) <= maxScore): // nor NaN
		return fmt.Sprintf("a score is at least %g, and at most %g", minScore, maxScore)
	case !formed(r.When, maxDepth):
		return "the condition is incomplete, or nested too deep"
	case idle(r.When, false):
		return "the condition holds of all that lacks something"
	}
	return ""
}

// formed reports whether a tree of at most some depth is whole.
func formed(e rule.Expr, depth int) bool {
	if depth == 0 {
		return false
	}
	switch e := e.(type) {
	case *rule.Term:
		return e != nil && e.Field < rule.Fields && e.Text != ""
	case *rule.Fact:
		return e != nil
	case *rule.Near:
		return e != nil && wordsOnly(e.A) && wordsOnly(e.B)
	case *rule.Not:
		return e != nil && formed(e.X, depth-1)
	case *rule.Or, *rule.And, *rule.AtLeast:
		of, need := parts(e, false)
		for _, part := range of {
			if !formed(part, depth-1) {
				return false
			}
		}
		return 0 < need && need <= len(of)
	}
	return false
}

// wordsOnly reports whether a condition may be a side of near/.
func wordsOnly(e rule.Expr) bool {
	switch e := e.(type) {
	case *rule.Term:
		return formed(e, 1) && (e.Kind == rule.Words || e.Kind == rule.Prefix || e.Kind == rule.Exact)
	case *rule.Or:
		for _, part := range e.Of {
			if t, ok := part.(*rule.Term); !ok || !wordsOnly(t) {
				return false
			}
		}
		return len(e.Of) > 0
	}
	return false
}

// within returns the conditions that one is made of; none of a term.
func within(e rule.Expr) []rule.Expr {
	switch e := e.(type) {
	case *rule.Not:
		return []rule.Expr{e.X}
	case *rule.Near:
		return []rule.Expr{e.A, e.B}
	}
	of, _ := parts(e, false)
	return of
}
