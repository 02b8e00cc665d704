package expression

import (
	"strconv"
	"strings"
)

// Precedence of conditions: a condition within one of higher precedence needs parentheses.
const (
	weakest   = iota // alternatives
	weak             // conjunctions
	strong           // near
	strongest        // negations
	atomic           // all else
)

// String implements [Node].
func (n And) String() string { return notationOf(n).join(n, notationOf(n).And, weak) }

// String implements [Node].
func (n Or) String() string {
	if len(n) == 0 {
		return "()" // users cannot type it, and it must not be read as "no condition"
	}
	return notationOf(n).join(n, notationOf(n).Or, weakest)
}

// String implements [Node].
func (n Not) String() string { return notationOf(n).Not + notationOf(n).enclosed(n.Node, atomic) }

// String implements [Node].
func (n AtLeast) String() string {
	return strconv.Itoa(n.N) + " of (" + notationOf(n).join(n.Operands, ", ", weakest) + ")"
}

// String implements [Node].
func (n Near) String() string {
	l := notationOf(n)
	return l.enclosed(n.A, strongest) + " near/" + strconv.Itoa(n.Within) + " " + l.enclosed(n.B, strongest)
}

// notationOf returns the notation of the leaves of a condition. All belong to one language.
func notationOf(n Node) *Notation {
	for n := range Walk(n) {
		if leaf, is := n.(Leaf); is {
			return leaf.Notation()
		}
	}
	return &Notation{}
}

func (l *Notation) join(nodes []Node, between string, least int) string {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		texts[i] = l.enclosed(n, least)
	}
	return strings.Join(texts, between)
}

// enclosed returns the text of a condition, in parentheses if its precedence is below least.
func (l *Notation) enclosed(n Node, least int) string {
	if l.precedence(n) < least {
		return "(" + n.String() + ")"
	}
	return n.String()
}

func (l *Notation) precedence(n Node) int {
	switch n.(type) {
	case Or:
		return weakest
	case And:
		return weak
	case Near:
		return strong
	case Not:
		return strongest
	}
	if l.IsSeveral != nil && l.IsSeveral(n) {
		return weak
	}
	return atomic
}
