package story

import (
	"cmp"
	"fmt"
	"slices"
)

// merge is a log entry by which a merged story can be separated again.
type merge struct {
	id     string   // of the story that became part of this story
	events []string // IDs of its events
}

// maxUndo is the number of merges stored per story.
const maxUndo = 64

// merge merges two stories. The larger keeps its ID; of equal sizes the one that began first.
func (c *Clusters) merge(g, h *group, reason string) {
	if c.smaller(g, h) {
		g, h = h, g
	}
	var moved []string
	for _, slot := range c.eventsOf(h) {
		c.events[slot].story = g.number
		moved = append(moved, c.idOf(slot))
	}
	a, okA := c.storyVectors[g]
	b, okB := c.storyVectors[h]
	if okA && okB {
		c.storyVectors[g] = c.index.plus(a, b)
	}
	delete(c.storyVectors, h)
	id := c.arena.text(h.id)
	c.arena.push(&g.events, slices.Clone(c.eventsOf(h))...)
	undo := slices.Concat(c.undo[g.number], c.undo[h.number], []merge{{id: id, events: moved}})
	c.undo[g.number] = slices.Clone(undo[max(0, len(undo)-maxUndo):])
	c.end(h)
	c.changes = append(c.changes, Change{Kind: Merged, Story: id, Into: c.arena.text(g.id), Events: moved, Reason: reason})
}

// smaller reports whether h keeps its ID in a merge with g.
func (c *Clusters) smaller(g, h *group) bool {
	return cmp.Or(cmp.Compare(c.sum(c.eventsOf(h)), c.sum(c.eventsOf(g))), c.earlier(c.first(g), c.first(h))) > 0
}

// earlier compares events by their first item, then by ID.
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

// sum returns the number of votes of some events.
func (c *Clusters) sum(slots []uint32) uint32 {
	n := uint32(0)
	for _, slot := range slots {
		n += c.events[slot].votes
	}
	return n
}

// check splits a changed story whose events are no longer similar.
func (c *Clusters) check(g *group) {
	if g.events.len < 3 {
		return
	}
	q := &c.query
	c.index.queryStored(q, c.storyVector(g))
	sum := 0.0
	members := firstOf(c.eventsOf(g))
	for _, slot := range members {
		sum += c.index.compare(q, c.index.vector(slot))[AllTerms]
	}
	if mean := sum / float64(len(members)); mean < c.weights.SplitBelow {
		c.splitParts(g, fmt.Sprintf("events are only %.0f %% similar", 100*mean))
	}
}

// splitParts leaves the largest connected part in a story, and gives each other part a story of its own. In a
// story with more than maxWhole events the later events stay.
func (c *Clusters) splitParts(g *group, reason string) {
	parts := c.parts(firstOf(c.eventsOf(g)))
	largest := 0
	for i := range parts {
		if c.sum(parts[i]) > c.sum(parts[largest]) {
			largest = i
		}
	}
	for i, part := range parts {
		if i != largest {
			c.moveToOwnStory(g, part, reason)
		}
	}
}

// parts returns the connected components of events. Two events are connected if they are similar, or if a decision keeps
// them together.
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
	q := &c.query
	for i, a := range slots {
		c.index.queryStored(q, c.index.vector(a))
		for j, b := range slots[:i] {
			if find(i) != find(j) && (c.heldTogether(a, b) || c.index.compare(q, c.index.vector(b))[AllTerms] >= c.connected(a, b)) {
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

// connected returns the cosine at which two events stay in one story.
func (c *Clusters) connected(a, b uint32) float64 {
	if haveTexts(&c.events[a], &c.events[b]) {
		return c.weights.ConnectedTexts
	}
	return c.weights.Connected
}

// moveToOwnStory moves some events of a story to a story of their own: with their previous ID, if the merge log
// contains it.
func (c *Clusters) moveToOwnStory(g *group, part []uint32, reason string) {
	id := c.ownID(g, part)
	h := c.newGroup(id)
	c.arena.set(&h.events, part)
	var moved []string
	for _, slot := range part {
		c.events[slot].story = h.number
		moved = append(moved, c.idOf(slot))
	}
	c.arena.set(&g.events, slices.DeleteFunc(slices.Clone(c.eventsOf(g)), func(s uint32) bool { return slices.Contains(part, s) }))
	c.setUndo(g, slices.DeleteFunc(slices.Clone(c.undo[g.number]), func(m merge) bool { return m.id == id }))
	delete(c.storyVectors, g)
	c.changes = append(c.changes, Change{Kind: Split, Story: c.arena.text(g.id), Into: id, Events: moved, Reason: reason})
}

func (c *Clusters) setUndo(g *group, undo []merge) {
	if len(undo) == 0 {
		delete(c.undo, g.number)
		return
	}
	c.undo[g.number] = undo
}

// ownID returns the story ID for events that leave another story.
func (c *Clusters) ownID(g *group, part []uint32) string {
	first := c.idOf(slices.MinFunc(part, c.earlier))
	for _, m := range slices.Backward(c.undo[g.number]) {
		if slices.Contains(m.events, first) && c.named(m.id) == nil {
			return m.id
		}
	}
	return c.unused(c.ids.Story(first)) // another ID, if the previous story began with the event
}

// unused returns an ID that no story has: the given ID, if it is free.
func (c *Clusters) unused(id string) string {
	for c.named(id) != nil {
		id = c.ids.Story(id + "'")
	}
	return id
}

// group returns the group with a number.
func (c *Clusters) group(number uint32) *group {
	return &c.groups[number/groupBlock][number%groupBlock]
}

// storyOf returns the story of the event in a slot.
func (c *Clusters) storyOf(slot uint32) *group { return c.group(c.events[slot].story) }

// named returns the story with an ID, or nil.
func (c *Clusters) named(id string) *group {
	if number, ok := c.stories[keyOf(id)]; ok {
		return c.group(number)
	}
	return nil
}

// newGroup returns a story without events.
func (c *Clusters) newGroup(id string) *group {
	if len(c.freeGroups) == 0 {
		from := uint32(len(c.groups) * groupBlock)
		c.groups = append(c.groups, new([groupBlock]group))
		for i := range uint32(groupBlock) {
			c.freeGroups = append(c.freeGroups, from+groupBlock-1-i)
		}
	}
	last := len(c.freeGroups) - 1
	number := c.freeGroups[last]
	c.freeGroups = c.freeGroups[:last]
	g := c.group(number)
	*g = group{number: number, id: c.arena.write(id)}
	c.stories[keyOf(id)] = number
	return g
}

// end removes a story whose events have moved or expired.
func (c *Clusters) end(g *group) {
	delete(c.stories, keyOf(c.arena.text(g.id)))
	delete(c.undo, g.number)
	c.arena.erase(g.id)
	c.arena.set(&g.events, nil)
	c.freeGroups = append(c.freeGroups, g.number)
}

// idOf returns the ID of the event in a slot.
func (c *Clusters) idOf(slot uint32) string { return c.arena.text(c.events[slot].id) }

// eventsOf returns the slots of a story's events. The slice is valid until they change.
func (c *Clusters) eventsOf(g *group) []uint32 { return c.arena.list(g.events) }

// member returns the stored state of an item.
func (c *Clusters) member(id string) (member, bool) {
	m, ok := c.items[keyOf(id)]
	return m, ok
}
