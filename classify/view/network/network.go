// Package network finds the views that an item belongs to, among many. [Compile] joins the conditions of all views into
// one graph in which equal conditions are the same node, also conditions of views that read each other. [Network.Match]
// begins at the words and values of an item, so that the cost of an item depends on the views that it nearly matches, not
// on the number of views.
//
// An "and" is evaluated only if the operand holds that is expected to hold least often, its access operand: F. Fabret et
// al., Filtering algorithms and implementation for very fast publish/subscribe systems, 2001.
package network

import (
	"slices"
	"sync"
	"time"

	"feedmesh/classify/query"
)

// A Document is an item with what conditions on sources need. It must not change after first use.
type Document struct {
	*query.Document
	FeedTags []string  // of its feed
	Now      time.Time // reference time of ages
}

// A Candidate is a view whose conditions an item meets. The item is a member if one of Through has it, unless Through is
// empty, and if [view.View.Join], Once and Unique admit it, which depend on other items.
type Candidate struct {
	View    int   // index of the view, see [Compile]
	Through []int // views that the item can only be read from and whose members depend on other items; all are candidates too
}

// A Network finds the views of items. It is safe for concurrent use.
type Network struct {
	graph
	views    []viewNode
	viewsOf  lists // views by their node
	sources  lists // of each view: a node, or the complement of the number of another view
	compiled time.Time
	states   sync.Pool // each has 4 bytes a node
}

// A viewNode is a view in a [Network].
type viewNode struct {
	node       int32
	all        bool // it reads all items
	isStateful bool // its members depend on other items
}

// Match returns the views of an item in the order of [Compile], in which a view follows those that it reads.
func (n *Network) Match(d *Document) []Candidate {
	s := n.states.Get().(*state)
	defer n.states.Put(s)
	s.read(d)
	s.activate()
	return s.candidates()
}

// Nodes returns the number of nodes of the graph, a measure of its memory: equal conditions have one.
func (n *Network) Nodes() int { return len(n.nodes) }

// A state is the working memory of [Network.Match]. A pool keeps states between items. The result of each node is cached:
// an "and" that many views share is evaluated once for an item. A cached result is valid if it has the number of the current
// run, so that the cache is not cleared between items.
type state struct {
	*Network
	doc     *Document
	run     uint32
	marks   []uint32 // cache by node: the run, shifted left by two, with the bits below
	waiting []int32  // nodes that hold, whose parents were not visited yet
	found   []int32  // views
	through map[int32][]int
}

const (
	holding uint32 = 1 << iota // the node holds
	visited                    // it holds, and its parents are visited
)

func newState(n *Network) *state {
	return &state{Network: n, marks: make([]uint32, len(n.nodes)), through: map[int32][]int{}}
}

// read begins a run, and records the leaves that hold for an item.
func (s *state) read(d *Document) {
	s.doc = d
	if s.run++; s.run == 1<<30 { // the numbers are used up: the cache begins again
		clear(s.marks)
		s.run = 1
	}
	s.waiting, s.found = s.waiting[:0], s.found[:0]
	clear(s.through)
	s.hold(everything)
	s.readValues()
	s.readWords()
}

// hold records that a leaf holds.
func (s *state) hold(id int32) {
	if held := s.run<<2 | holding | visited; s.marks[id] != held {
		s.marks[id] = held
		s.waiting = append(s.waiting, id)
	}
}

// readValues records the leaves of the item's values.
func (s *state) readValues() {
	s.values(query.Feed, s.doc.Feed)
	s.values(query.Category, s.doc.Categories...)
	s.values(query.Language, s.doc.Language)
	s.values(query.Story, s.doc.Story)
	s.values(query.Flag, s.doc.Flags...)
	s.values(feedTag, s.doc.FeedTags...)
	if s.leaves.values[query.Host] != nil {
		s.values(query.Host, query.Hosts(s.doc.URL)...)
	}
	if s.leaves.values[query.Topic] != nil {
		for _, topic := range s.doc.Topics {
			s.values(query.Topic, folded(topic))
		}
	}
}

func (s *state) values(field query.Field, values ...string) {
	leaves := s.leaves.values[field]
	for _, value := range values {
		if id, is := leaves[value]; is {
			s.hold(id)
		}
	}
}

// readWords records the leaves of the item's words.
func (s *state) readWords() {
	for part, words := range s.leaves.words {
		for stem := range s.doc.Stems(part) {
			if id, is := words.stems[stem]; is {
				s.hold(id)
			}
			for _, length := range words.lengths {
				if length > len(stem) {
					break
				}
				if id, is := words.prefixes[stem[:length]]; is {
					s.hold(id)
				}
			}
		}
	}
}

// activate evaluates the nodes whose access operand holds.
func (s *state) activate() {
	for len(s.waiting) > 0 {
		last := len(s.waiting) - 1
		id := s.waiting[last]
		s.waiting = s.waiting[:last]
		if s.nodes[id].hasViews {
			s.found = append(s.found, s.viewsOf.of(id)...)
		}
		for _, parent := range s.parents.of(id) {
			if s.holds(parent) && s.marks[parent]&visited == 0 {
				s.marks[parent] |= visited
				s.waiting = append(s.waiting, parent)
			}
		}
	}
}

// holds returns the result of a node, or of the negation of one, from the cache or by evaluation. The cache has the words
// and values of the item before.
func (s *state) holds(operand int32) bool {
	if operand < 0 {
		return !s.holds(^operand)
	}
	if mark := s.marks[operand]; mark>>2 == s.run {
		return mark&holding != 0
	}
	s.marks[operand] = s.run << 2
	if !s.evaluate(&s.nodes[operand]) {
		return false
	}
	s.marks[operand] |= holding
	return true
}

func (s *state) evaluate(n *node) bool {
	switch n.kind {
	case and:
		for _, operand := range s.operandsOf(n) {
			if !s.holds(operand) {
				return false
			}
		}
		return true
	case or:
		for _, operand := range s.operandsOf(n) {
			if s.holds(operand) {
				return true
			}
		}
	case phrase:
		p := &s.leaves.phrases[n.first]
		return s.doc.HasPhrase(p.in, p.words)
	case published:
		return s.leaves.times[n.first].contains(s.doc.Published, s.doc.Now.Sub(s.compiled))
	}
	return false // a word or value that the item does not have
}

// candidates returns the views that were found.
func (s *state) candidates() []Candidate {
	if len(s.found) == 0 {
		return nil
	}
	slices.Sort(s.found)
	all := make([]Candidate, len(s.found))
	for i, v := range s.found {
		through := s.throughOf(v)
		if len(through) > 0 {
			s.through[v] = through
		}
		all[i] = Candidate{View: int(v), Through: through}
	}
	return all
}

// throughOf returns [Candidate.Through] of a view that was found.
func (s *state) throughOf(v int32) (through []int) {
	if s.views[v].all {
		return nil
	}
	for _, source := range s.sources.of(v) {
		other := ^source
		switch {
		case source >= 0 && s.holds(source):
			return nil
		case source >= 0, !s.holds(s.views[other].node):
		case s.views[other].isStateful || len(s.through[other]) > 0:
			through = append(through, int(other))
		default:
			return nil
		}
	}
	return through
}
