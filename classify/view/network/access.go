package network

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"feedmesh/classify/query"
)

// The shares are orders of magnitude: they decide only at which operand the evaluation of an "and" begins.

// shareOfValue returns the expected share of items with one value of a field.
func shareOfValue(field query.Field) float64 {
	switch field {
	case query.Language:
		return 0.5
	case query.Flag, query.Category, feedTag:
		return 0.1
	case query.Host, query.Topic:
		return 0.01
	}
	return 0.0001 // a feed or story
}

// shareOfWord returns the expected share of items with a word: short ones are frequent.
func shareOfWord(stem string) float64 {
	switch n := utf8.RuneCountInString(stem); {
	case n <= 2:
		return 0.2
	case n <= 4:
		return 0.05
	case n <= 6:
		return 0.02
	}
	return 0.005
}

// estimate computes the shares of all nodes, those of leaves from a sample too, and sorts operands by them: an "and" fails
// early, an "or" holds early.
func (c *compiler) estimate(sample []*Document) {
	held := make([]int32, len(c.nodes))
	s := newState(c.Network)
	for _, d := range sample {
		s.read(d)
		for _, id := range s.waiting {
			held[id]++
		}
	}
	for id := range c.nodes {
		n := &c.nodes[id]
		switch n.kind {
		case value:
			c.shares[id] = (float64(held[id]) + c.shares[id]) / float64(len(sample)+1)
		case and, or:
			operands := c.operandsOf(n)
			slices.SortStableFunc(operands, func(a, b int32) int {
				if n.kind == or {
					a, b = b, a
				}
				return cmp.Compare(c.shareOf(a), c.shareOf(b))
			})
			c.shares[id] = c.shareOfOperator(n.kind, operands)
		}
	}
}

func (c *compiler) shareOf(operand int32) float64 {
	if operand < 0 {
		return 1 - c.shares[^operand]
	}
	return c.shares[operand]
}

// shareOfOperator returns the share of an operator on independent operands.
func (c *compiler) shareOfOperator(k kind, operands []int32) float64 {
	all, none := 1.0, 1.0
	for _, operand := range operands {
		share := c.shareOf(operand)
		all, none = all*share, none*(1-share)
	}
	if k == and {
		return all
	}
	return 1 - none
}

// chooseAccess sets the parents of each node: those that are evaluated when it holds. An "and" is the parent of one operand,
// that with the least share, or with the fewest parents if shares are equal because the sample has none of them. Nodes that
// no view needs get no parents.
func (c *compiler) chooseAccess() {
	a := accesses{compiler: c, parents: make([]int32, len(c.nodes)), needed: make([]bool, len(c.nodes))}
	for _, v := range c.views {
		a.need(v.node)
	}
	c.parents = grouped(a.pairs, len(c.nodes))
}

type accesses struct {
	*compiler
	parents []int32 // number of parents of each node
	needed  []bool
	pairs   []pair // node and parent
}

// need ensures that a node is evaluated whenever it holds.
func (a *accesses) need(id int32) {
	if a.needed[id] {
		return
	}
	a.needed[id] = true
	n := &a.nodes[id]
	operands := a.operandsOf(n)
	switch n.kind {
	case value:
	case and:
		best := everything
		for _, operand := range operands {
			if operand >= 0 && (best == everything || a.isBetter(operand, best)) {
				best = operand
			}
		}
		a.connect(best, id)
	case or:
		for _, operand := range operands {
			a.connect(max(operand, everything), id) // a negation may hold for an item without any of its words and values
		}
	default:
		a.connect(everything, id)
	}
}

func (a *accesses) isBetter(id, than int32) bool {
	return cmp.Or(cmp.Compare(a.shares[id], a.shares[than]), cmp.Compare(a.parents[id], a.parents[than])) < 0
}

func (a *accesses) connect(id, parent int32) {
	a.parents[id]++
	a.pairs = append(a.pairs, pair{id, parent})
	a.need(id)
}
