package classify

import (
	"fmt"
	"math"
	"slices"

	"feedmesh/classify/expression"
	"feedmesh/classify/rule"
)

const (
	minScore = 0.0001 // smallest score with an effect
	maxScore = 100.0
	maxDepth = 200 // nesting depth of conditions
)

// ruleProblem returns a description of an invalid tree, or "". The parser never produces such trees; callers
// that build rules themselves may.
func ruleProblem(r *rule.Rule) string {
	switch {
	case !(r.Score >= minScore && r.Score <= maxScore) || !(math.Abs(r.Action.Score) <= maxScore): // also rejects NaN
		return fmt.Sprintf("a score must be at least %g and at most %g", minScore, maxScore)
	case !isWellFormed(r.Condition, maxDepth):
		return "the condition is incomplete, or nested too deep"
	case holdsWithoutMatch(r.Condition, false):
		return "the condition holds for documents without any match"
	}
	return ""
}

// isWellFormed reports whether a tree is complete and at most depth deep.
func isWellFormed(e rule.Expr, depth int) bool {
	if depth == 0 {
		return false
	}
	switch e := e.(type) {
	case *rule.Term:
		return e != nil && e.Field < rule.FieldCount && e.Text != ""
	case *rule.Fact:
		return e != nil
	case rule.Near:
		return isNearSide(e.A) && isNearSide(e.B)
	case rule.Not:
		return isWellFormed(e.Node, depth-1)
	case rule.Or, rule.And, rule.AtLeast:
		of, need := expression.Operands(e)
		for _, part := range of {
			if !isWellFormed(part, depth-1) {
				return false
			}
		}
		return 0 < need && need <= len(of)
	}
	return false
}

// isNearSide reports whether a condition may be an operand of near/.
func isNearSide(e rule.Expr) bool {
	switch e := e.(type) {
	case *rule.Term:
		return isWellFormed(e, 1) && (e.Kind == rule.Words || e.Kind == rule.Prefix || e.Kind == rule.Exact)
	case rule.Or:
		return len(e) > 0 && !slices.ContainsFunc(e, func(e rule.Expr) bool {
			t, is := e.(*rule.Term)
			return !is || !isNearSide(t)
		})
	}
	return false
}
