package classify

import (
	"feedmesh/classify/expression"
	"feedmesh/classify/rule"
)

// A condition is an expression tree, evaluated as a whole where gates are not sufficient.
type condition struct {
	kind    conditionKind
	pattern int32 // that must occur
	in      fieldSet
	fact    int32       // that must hold
	need    int         // for atLeast: number of parts that must hold
	parts   []condition // of atLeast, or the operand of negated
	near    *nearness
}

type conditionKind uint8

const (
	occurs conditionKind = iota
	factHolds
	atLeast
	negated
	near
)

// A nearness requires a pattern of each list within a distance of one another.
type nearness struct {
	a, b   []int32 // patterns
	in     fieldSet
	within int
}

// needsTree reports whether a condition cannot be decided by gates alone.
func needsTree(e rule.Expr) bool {
	for e := range expression.Walk(e) {
		switch e.(type) {
		case rule.Not, rule.Near:
			return true
		}
	}
	return false
}

// residualCondition compiles the part of a rule's condition that gates cannot decide, or returns nil if gates
// are sufficient.
func (c *compiler) residualCondition(b *sectionBuilder, e rule.Expr) *condition {
	if and, ok := e.(rule.And); ok {
		t := condition{kind: atLeast}
		for _, part := range and {
			if needsTree(part) {
				t.parts = append(t.parts, c.condition(b, part))
			}
		}
		if t.need = len(t.parts); t.need == 0 {
			return nil
		}
		return &t
	}
	if !needsTree(e) {
		return nil
	}
	t := c.condition(b, e)
	return &t
}

// condition compiles an expression.
func (c *compiler) condition(b *sectionBuilder, e rule.Expr) condition {
	switch e := e.(type) {
	case *rule.Term:
		return condition{kind: occurs, pattern: c.pattern(b, e), in: fieldSets[e.Field]}
	case *rule.Fact:
		return condition{kind: factHolds, fact: c.factID(e.Kind, e.Name)}
	case rule.Not:
		return condition{kind: negated, parts: []condition{c.condition(b, e.Node)}}
	case rule.Near:
		n := &nearness{within: e.Within}
		n.a, n.in = c.nearSide(b, e.A)
		n.b, _ = c.nearSide(b, e.B)
		return condition{kind: near, near: n}
	}
	of, need := expression.Operands(e)
	t := condition{kind: atLeast, need: need, parts: make([]condition, len(of))}
	for i, part := range of {
		t.parts[i] = c.condition(b, part)
	}
	return t
}

// nearSide returns the patterns of one operand of near/, and their field.
func (c *compiler) nearSide(b *sectionBuilder, e rule.Expr) (patterns []int32, in fieldSet) {
	for e := range expression.Walk(e) {
		if t, ok := e.(*rule.Term); ok {
			patterns, in = append(patterns, c.pattern(b, t)), fieldSets[t.Field]
		}
	}
	return patterns, in
}
