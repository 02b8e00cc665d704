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
	for _, slot := range c.eventsOf(h) {
		c.events[slot].story = g.number
		moved = append(moved, c.idOf(slot))
	}
	a, okA := c.wholes[g]
	b, okB := c.wholes[h]
	if okA && okB {
		c.wholes[g] = c.index.plus(a, b)
	}
	delete(c.wholes, h)
	id := c.room.text(h.id)
	c.room.push(&g.events, slices.Clone(c.eventsOf(h))...)
	undo := slices.Concat(c.undo[g.number], c.undo[h.number], []merge{{id: id, events: moved}})
	c.undo[g.number] = slices.Clone(undo[max(0, len(undo)-maxUndo):])
	c.end(h)
	c.changes = append(c.changes, Change{Kind: Merged, Story: id, Into: c.room.text(g.id), Events: moved, Why: why})
}

// smaller reports whether h keeps its ID when it and g become one.
func (c *Clusters) smaller(g, h *group) bool {
	return cmp.Or(cmp.Compare(c.sum(c.eventsOf(h)), c.sum(c.eventsOf(g))), c.earlier(c.first(g), c.first(h))) > 0
}

// earlier compares events by their first item; of equal ones by ID.
func (c *Clusters) earlier(a, b uint32) int {
	if order := cmp.Compare(c.events[a].first, c.events[b].first); order != 0 {
		return order
	}
	return cmp.Compare(c.idOf(a), c.idOf(b))
}

// first returns the slot of the event that a story began with.
func (c *Clusters) first(g *group) uint32 {
	return slices.MinFunc(c.eventsOf(g), c.earlier)
}

// sum returns how many items of some events count.
func (c *Clusters) sum(slots []uint32) uint32 {
	n := uint32(0)
	for _, slot := range slots {
		n += c.events[slot].votes
	}
	return n
}

// check looks whether a story that changed is still one, and takes it apart
// where it is not.
func (c *Clusters) check(g *group) {
	if g.events.len < 3 {
		return
	}
	q := &c.asked
	c.index.askFor(q, c.whole(g))
	sum := 0.0
	members := firstOf(c.eventsOf(g))
	for _, slot := range members {
		sum += c.alikeTo(q, c.index.vector(slot))
	}
	if mean := sum / float64(len(members)); mean < c.weights.SplitBelow {
		c.takeApart(g, fmt.Sprintf("its events are alike by %.0f %% only", 100*mean))
	}
}

// takeApart leaves in a story the largest part of it that hangs together, and
// gives each other part a story of its own. Of a story with more than maxWhole
// events those that came later stay.
func (c *Clusters) takeApart(g *group, why string) {
	parts := c.parts(firstOf(c.eventsOf(g)))
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
		c.index.askFor(q, c.index.vector(a))
		squares[i] = q.square
		for j, b := range slots[:i] {
			f := &c.events[b]
			if find(i) != find(j) && (c.held(a, b) || c.alike(q.cosines(q.dot(c.index.vector(b)), squares[j])) >= c.mergeNeed(e, f)) {
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
	id := c.ownID(g, part)
	h := c.newGroup(id)
	c.room.set(&h.events, part)
	var moved []string
	for _, slot := range part {
		c.events[slot].story = h.number
		moved = append(moved, c.idOf(slot))
	}
	c.room.set(&g.events, slices.DeleteFunc(slices.Clone(c.eventsOf(g)), func(s uint32) bool { return slices.Contains(part, s) }))
	c.setUndo(g, slices.DeleteFunc(slices.Clone(c.undo[g.number]), func(m merge) bool { return m.id == id }))
	delete(c.wholes, g)
	c.changes = append(c.changes, Change{Kind: Split, Story: c.room.text(g.id), Into: id, Events: moved, Why: why})
	return h
}

func (c *Clusters) setUndo(g *group, undo []merge) {
	if len(undo) == 0 {
		delete(c.undo, g.number)
		return
	}
	c.undo[g.number] = undo
}

// ownID returns the ID of a story of events that leave another one.
func (c *Clusters) ownID(g *group, part []uint32) string {
	first := c.idOf(slices.MinFunc(part, c.earlier))
	for _, m := range slices.Backward(c.undo[g.number]) {
		if slices.Contains(m.events, first) && c.named(m.id) == nil {
			return m.id
		}
	}
	return c.unused(c.ids.Story(first)) // another, if the story that it leaves began with it
}

// unused returns an ID that no story has: the given one, if it may.
func (c *Clusters) unused(id string) string {
	for c.named(id) != nil {
		id = c.ids.Story(id + "'")
	}
	return id
}
