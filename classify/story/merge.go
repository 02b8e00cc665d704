package story

import (
	"cmp"
	"fmt"
	"slices"
)

// A merge is a line of the log by which a story can be taken apart again.
type merge struct {
	id     string   // of the story that became part of this one
	events []string // IDs of its events
}

// maxUndo is how many merges of a story are remembered.
const maxUndo = 64

// merge makes two stories one. The larger keeps its ID; of two equal ones the
// one that began first.
func (c *Clusters) merge(g, h *group, why string) {
	if c.smaller(g, h) {
		g, h = h, g
	}
	var moved []string
	for _, slot := range h.events {
		c.events[slot].story = g
		moved = append(moved, c.events[slot].id)
	}
	if g.whole != nil && h.whole != nil {
		g.whole = vector(nil).plus(g.whole, h.whole, 1).heaviest(maxTerms)
	}
	g.events = append(g.events, h.events...)
	g.undo = append(append(g.undo, h.undo...), merge{id: h.id, events: moved})
	g.undo = slices.Clone(g.undo[max(0, len(g.undo)-maxUndo):])
	delete(c.stories, h.id)
	c.changes = append(c.changes, Change{Kind: Merged, Story: h.id, Into: g.id, Events: moved, Why: why})
}

// smaller reports whether h keeps its ID when it and g become one.
func (c *Clusters) smaller(g, h *group) bool {
	a, b := &c.events[c.first(g)], &c.events[c.first(h)]
	return cmp.Or(cmp.Compare(c.sum(h.events), c.sum(g.events)), a.first.Compare(b.first), cmp.Compare(a.id, b.id)) > 0
}

// first returns the slot of the event that a story began with.
func (c *Clusters) first(g *group) uint32 {
	return slices.MinFunc(g.events, func(a, b uint32) int {
		e, f := &c.events[a], &c.events[b]
		return cmp.Or(e.first.Compare(f.first), cmp.Compare(e.id, f.id))
	})
}

// sum returns how many items of some events count.
func (c *Clusters) sum(slots []uint32) int {
	n := 0
	for _, slot := range slots {
		n += c.events[slot].votes
	}
	return n
}

// check looks whether a story that changed is still one, and takes it apart
// where it is not.
func (c *Clusters) check(g *group) {
	if len(g.events) < 3 {
		return
	}
	q := &c.asked
	c.index.ask(q, c.whole(g))
	sum := 0.0
	members := g.events[:min(len(g.events), maxWhole)]
	for _, slot := range members {
		sum += c.alikeTo(q, c.index.vectors[slot])
	}
	if mean := sum / float64(len(members)); mean < c.weights.SplitBelow {
		c.takeApart(g, fmt.Sprintf("its events are alike by %.0f %% only", 100*mean))
	}
}

// takeApart leaves in a story the largest part of it that hangs together, and
// gives each other part a story of its own. Of a story with more than maxWhole
// events those that came later stay.
func (c *Clusters) takeApart(g *group, why string) {
	parts := c.parts(g.events[:min(len(g.events), maxWhole)])
	largest := 0
	for i := range parts {
		if c.sum(parts[i]) > c.sum(parts[largest]) {
			largest = i
		}
	}
	for i, part := range parts {
		if i != largest {
			c.leave(g, part, why)
		}
	}
}

// parts returns the connected components of events, where those are connected
// that could be merged, or that a hand holds together.
func (c *Clusters) parts(slots []uint32) [][]uint32 {
	root := make([]int, len(slots))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	q, squares := &c.asked, make([]product, len(slots))
	for i, a := range slots {
		e := &c.events[a]
		c.index.ask(q, c.index.vectors[a])
		squares[i] = q.square
		for j, b := range slots[:i] {
			f := &c.events[b]
			if find(i) != find(j) && (c.held(e.id, f.id) || c.alike(q.cosines(q.dot(c.index.vectors[b]), squares[j])) >= c.mergeNeed(e, f)) {
				root[find(i)] = find(j)
			}
		}
	}
	var parts [][]uint32
	at := make(map[int]int)
	for i, slot := range slots {
		r := find(i)
		if _, ok := at[r]; !ok {
			at[r] = len(parts)
			parts = append(parts, nil)
		}
		parts[at[r]] = append(parts[at[r]], slot)
	}
	return parts
}

// leave gives some events of a story one of their own: the one that they came
// from, if the log knows it.
func (c *Clusters) leave(g *group, part []uint32, why string) *group {
	h := &group{events: part}
	h.id = c.idOf(g, h)
	var moved []string
	for _, slot := range part {
		c.events[slot].story = h
		moved = append(moved, c.events[slot].id)
	}
	g.events = slices.DeleteFunc(slices.Clone(g.events), func(s uint32) bool { return slices.Contains(part, s) })
	g.undo = slices.DeleteFunc(slices.Clone(g.undo), func(m merge) bool { return m.id == h.id })
	g.whole = nil
	c.stories[h.id] = h
	c.changes = append(c.changes, Change{Kind: Split, Story: g.id, Into: h.id, Events: moved, Why: why})
	return h
}

// idOf returns the ID of a story that leaves another one.
func (c *Clusters) idOf(g, h *group) string {
	first := c.events[c.first(h)].id
	for _, m := range slices.Backward(g.undo) {
		if slices.Contains(m.events, first) && c.stories[m.id] == nil {
			return m.id
		}
	}
	return c.unused(c.ids.Story(first)) // another, if the story that it leaves began with it
}

// unused returns an ID that no story has: the given one, if it may.
func (c *Clusters) unused(id string) string {
	for c.stories[id] != nil {
		id = c.ids.Story(id + "'")
	}
	return id
}
