// Package expression implements what the search language (package query) and the rule language (package rule)
// have in common: the tree of a condition ([Node]), its printer, and the lexer with its tokens. Each language
// adds its leaves, which decide what a condition compares, and a parser for its grammar.
package expression

import "iter"

// A Node is a condition: an [And], [Or], [Not], [AtLeast], [Near], or a [Leaf] of a language.
type Node interface {
	// String returns the condition in the language of its leaves. Parsing it yields the same tree.
	String() string
}

// And holds if all of its operands hold; an empty And holds.
type And []Node

// Or holds if one of its operands holds; an empty Or does not hold.
type Or []Node

// Not holds if its operand does not.
type Not struct{ Node Node }

// AtLeast holds if N or more of its operands hold: 1 <= N <= len(Operands).
type AtLeast struct {
	N        int
	Operands []Node
}

// Near holds if both operands occur in one field with at most Within words between them, in either order. A
// language decides where its leaves occur.
type Near struct {
	A, B   Node
	Within int
}

// A Leaf is a condition of one language on a field of an item.
type Leaf interface {
	Node
	// Notation returns the notation of the language.
	Notation() *Notation
}

// Operands returns the direct operands of a condition and the number of them that must hold, nil and 0 for a
// leaf. The operand of a [Not] must not hold.
func Operands(n Node) (operands []Node, need int) {
	switch n := n.(type) {
	case And:
		return n, len(n)
	case Or:
		return n, 1
	case AtLeast:
		return n.Operands, n.N
	case Not:
		return []Node{n.Node}, 0
	case Near:
		return []Node{n.A, n.B}, 2
	}
	return nil, 0
}

// Walk yields a condition and its descendants, each with the number of [Not] above it: a node before its
// operands, operands in order.
func Walk(n Node) iter.Seq2[Node, int] {
	return func(yield func(Node, int) bool) { walk(n, 0, yield) }
}

func walk(n Node, negations int, yield func(Node, int) bool) bool {
	if n == nil {
		return true
	}
	if !yield(n, negations) {
		return false
	}
	operands, _ := Operands(n)
	if _, is := n.(Not); is {
		negations++
	}
	for _, operand := range operands {
		if !walk(operand, negations, yield) {
			return false
		}
	}
	return true
}

// Holds evaluates a condition; nil holds. decide evaluates leaves and [Near]; negated reports whether they
// are below a [Not].
func Holds(n Node, decide func(n Node, negated bool) bool) bool { return holds(n, false, decide) }

func holds(n Node, negated bool, decide func(Node, bool) bool) bool {
	switch n := n.(type) {
	case nil:
		return true
	case Not:
		return !holds(n.Node, true, decide)
	case And, Or, AtLeast:
		operands, need := Operands(n)
		for i, operand := range operands {
			if need == 0 || need > len(operands)-i {
				break
			}
			if holds(operand, negated, decide) {
				need--
			}
		}
		return need == 0
	}
	return decide(n, negated)
}

// AllOf returns the conjunction of conditions without nesting one [And] in another: nil for none, a single
// condition itself.
func AllOf(nodes []Node) Node { return join[And](nodes) }

// AnyOf returns the disjunction of conditions, as [AllOf] does.
func AnyOf(nodes []Node) Node { return join[Or](nodes) }

func join[L interface {
	And | Or
	Node
}](nodes []Node) Node {
	switch len(nodes) {
	case 0:
		return nil
	case 1:
		return nodes[0]
	}
	flat := make(L, 0, len(nodes))
	for _, n := range nodes {
		if inner, is := n.(L); is {
			flat = append(flat, inner...)
		} else {
			flat = append(flat, n)
		}
	}
	return flat
}

// Negate returns the negation of a condition. A double negation cancels.
func Negate(n Node) Node {
	if inner, is := n.(Not); is {
		return inner.Node
	}
	return Not{n}
}

// A Notation is the way in which a language writes operators.
type Notation struct {
	And, Or string // between operands, with spaces
	Not     string // before the operand

	// IsSeveral reports whether a leaf is written as several conditions, which need parentheses after Not.
	IsSeveral func(Node) bool
}
