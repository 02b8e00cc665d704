package network

import (
	"time"

	"feedmesh/classify/query"
)

// A graph has the conditions of all views.
type graph struct {
	nodes    []node
	operands []int32 // numbers of nodes, lower than that of the node that they belong to; the complement negates one
	parents  lists   // by node: the nodes that are evaluated if it holds
	leaves   leaves
}

// A node is a condition.
type node struct {
	first    int32 // index of its first operand, or of its phrase or time
	count    int32 // of operands
	kind     kind
	hasViews bool // it is all that some view requires
}

// operandsOf returns the operands of an operator.
func (g *graph) operandsOf(n *node) []int32 { return g.operands[n.first : n.first+n.count] }

type kind uint8

const (
	value     kind = iota // or a word: the item has it or not
	phrase                // its words, which occur, do so in sequence
	published             // the item's time
	and
	or
)

// everything is the node that always holds.
const everything int32 = 0

// feedTag is the field of the tags of feeds, which the search language does not have.
const feedTag query.Field = "feed tag"

// leaves find nodes by what an item has.
type leaves struct {
	values  map[query.Field]map[string]int32
	words   map[query.Part]*words
	phrases []phraseWords
	times   []timeRange
}

// words are the nodes of the words of a part.
type words struct {
	stems    map[string]int32
	prefixes map[string]int32
	lengths  []int // of prefixes, ascending
}

// phraseWords are the words of a phrase in a part.
type phraseWords struct {
	in    query.Part
	words []query.Word
}

// A timeRange is a range of publication. A relative one has bounds that move with the time of the search.
type timeRange struct {
	query.TimeRange
	isRelative bool
}

// contains reports whether the range contains t; later is the time since the range was computed.
func (r timeRange) contains(t time.Time, later time.Duration) bool {
	if r.isRelative {
		t = t.Add(-later)
	}
	return (r.From.IsZero() || !t.Before(r.From)) && (r.Until.IsZero() || t.Before(r.Until))
}

// lists are lists of numbers that are stored one after another.
type lists struct {
	numbers []int32
	starts  []int32 // of each list, and the end of the last
}

// of returns list i.
func (l *lists) of(i int32) []int32 { return l.numbers[l.starts[i]:l.starts[i+1]] }

// A pair is an entry of a list.
type pair struct{ list, number int32 }

// grouped returns n lists of pairs, each in the order of the pairs.
func grouped(pairs []pair, n int) lists {
	l := lists{numbers: make([]int32, len(pairs)), starts: make([]int32, n+1)}
	for _, p := range pairs {
		l.starts[p.list+1]++
	}
	for i := range n {
		l.starts[i+1] += l.starts[i]
	}
	next := append([]int32(nil), l.starts[:n]...)
	for _, p := range pairs {
		l.numbers[next[p.list]] = p.number
		next[p.list]++
	}
	return l
}
