package classify

import "feedmesh/classify/rule"

// A condition is a tree that is looked at as a whole.
type condition struct {
	is      conditionKind
	pattern int32 // that occurs
	in      fieldSet
	fact    int32       // that is known
	need    int         // of some: how many of the parts must hold
	parts   []condition // of some, or the one that is denied
	near    *nearness
}

type conditionKind uint8

const (
	occurs conditionKind = iota
	known
	some
	denied
	near
)

// A nearness is two kinds of words that must be near one another.
type nearness struct {
	a, b   []int32 // patterns
	in     fieldSet
	within int
}

// whole reports whether gates alone cannot tell that a condition holds.
func whole(e rule.Expr) bool {
	switch e := e.(type) {
	case *rule.Not, *rule.Near:
		return true
	case *rule.Term, *rule.Fact:
		return false
	default:
		of, _ := parts(e, false)
		for _, part := range of {
			if whole(part) {
				return true
			}
		}
		return false
	}
}

// doubtful compiles what gates alone cannot tell of a rule's condition, nil if
// there is nothing.
func (c *compiler) doubtful(b *builder, e rule.Expr) *condition {
	if and, ok := e.(*rule.And); ok {
		t := condition{is: some}
		for _, part := range and.Of {
			if whole(part) {
				t.parts = append(t.parts, c.condition(b, part))
			}
		}
		if t.need = len(t.parts); t.need == 0 {
			return nil
		}
		return &t
	}
	if !whole(e) {
		return nil
	}
	t := c.condition(b, e)
	return &t
}

// condition compiles a tree.
func (c *compiler) condition(b *builder, e rule.Expr) condition {
	switch e := e.(type) {
	case *rule.Term:
		return condition{is: occurs, pattern: c.pattern(b, e), in: fieldSets[e.Field]}
	case *rule.Fact:
		return condition{is: known, fact: c.factID(e.Of, e.Name)}
	case *rule.Not:
		return condition{is: denied, parts: []condition{c.condition(b, e.X)}}
	case *rule.Near:
		n := &nearness{within: e.Within}
		n.a, n.in = c.side(b, e.A)
		n.b, _ = c.side(b, e.B)
		return condition{is: near, near: n}
	}
	of, need := parts(e, false)
	t := condition{is: some, need: need, parts: make([]condition, len(of))}
	for i, part := range of {
		t.parts[i] = c.condition(b, part)
	}
	return t
}

// side returns the patterns of a side of near/, and their field.
func (c *compiler) side(b *builder, e rule.Expr) (patterns []int32, in fieldSet) {
	var terms []rule.Expr
	switch e := e.(type) {
	case *rule.Term:
		terms = []rule.Expr{e}
	case *rule.Or:
		terms = e.Of
	}
	for _, e := range terms {
		if t, ok := e.(*rule.Term); ok {
			patterns, in = append(patterns, c.pattern(b, t)), fieldSets[t.Field]
		}
	}
	return patterns, in
}

// meets reports whether a condition holds.
func (f *firing) meets(m *matching, c *condition) bool {
	switch c.is {
	case occurs:
		return m.in(c.pattern, c.in) != 0
	case known:
		return f.facts[c.fact] == f.stamp
	case denied:
		return !f.meets(m, &c.parts[0])
	case near:
		return f.isNear(m, c.near)
	}
	need := c.need
	for i := range c.parts {
		if len(c.parts)-i < need {
			return false
		}
		if f.meets(m, &c.parts[i]) {
			if need--; need == 0 {
				return true
			}
		}
	}
	return false
}
