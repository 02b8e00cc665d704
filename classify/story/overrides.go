package story

import (
	"cmp"
	"errors"
	"slices"
)

// ErrNotFound reports that an item or event is not in the window.
var ErrNotFound = errors.New("not in the window of current items")

// ErrNothingToSplit reports that an event is already the only event of its story.
var ErrNothingToSplit = errors.New("already a story of its own")

const maxKeptApart = 64 // maximum events of a story from which one event is kept apart

// Join merges the stories of two events, and keeps the events together. It returns [ErrNotFound] if either is
// not in the window.
func (c *Clusters) Join(a, b string) error {
	s, okA := c.byID[keyOf(a)]
	t, okB := c.byID[keyOf(b)]
	if !okA || !okB {
		return ErrNotFound
	}
	g, h := c.storyOf(s), c.storyOf(t)
	for _, slot := range c.eventsOf(g) { // revoke the decisions that kept the stories apart
		for _, other := range c.eventsOf(h) {
			c.removeOverride(c.idOf(slot), c.idOf(other))
		}
	}
	if g != h {
		c.merge(g, h, "by hand")
	}
	c.AddOverride(Override{A: a, B: b, Together: true})
	return nil
}

// Split gives an event a story of its own, and keeps it apart from the other events of its previous story. It
// returns [ErrNotFound] if the event is not in the window, and [ErrNothingToSplit] if it already has a story
// of its own.
func (c *Clusters) Split(id string) error {
	slot, ok := c.byID[keyOf(id)]
	if !ok {
		return ErrNotFound
	}
	g := c.storyOf(slot)
	if g.events.len == 1 {
		return ErrNothingToSplit
	}
	c.moveToOwnStory(g, []uint32{slot}, "by hand")
	c.keepApart(slot, g)
	return nil
}

// SplitItem gives an item an event and a story of its own, kept apart from its previous ones. The item must
// equal the item that was placed. It returns [ErrNotFound] if the item is not in the window, and
// [ErrNothingToSplit] if it already has an event and a story of its own.
func (c *Clusters) SplitItem(item Item) (Placement, error) {
	m, ok := c.member(item.ID)
	if !ok {
		return Placement{}, ErrNotFound
	}
	slot := m.slot
	if c.events[slot].items == 1 {
		err := c.Split(c.idOf(slot))
		return c.placement(slot, Reason{By: "hand"}), err
	}
	c.evict(1)
	if m, ok = c.member(item.ID); !ok {
		return Placement{}, ErrNotFound
	}
	slot = m.slot
	features := c.featuresOf(item)
	c.take(m, item, features)
	id := c.unusedEvent(item.ID) // the previous event may have begun with the item
	fresh := c.open(id, item.Seen)
	c.beginStory(c.unused(c.ids.Story(id)), fresh)
	c.join(fresh, item, features)
	c.keepApart(fresh, c.storyOf(slot))
	left, now := c.placement(slot, Reason{}), c.placement(fresh, Reason{By: "hand"})
	c.changes = append(c.changes, Change{
		Kind: Split, Story: left.StoryID, Into: now.StoryID, Events: []string{id}, Reason: "by hand",
	})
	return now, nil
}

// take removes an item from an event with other items.
func (c *Clusters) take(m member, item Item, features *Features) {
	e := &c.events[m.slot]
	c.unlink(e, keyOf(item.ID))
	if !m.voted || e.votes < 2 {
		return // the item did not contribute to the vector, or is its only contribution
	}
	e.votes--
	if item.Text != "" {
		e.texts = max(1, e.texts) - 1
	}
	c.unvote(e, hash(item.Host))
	left := vector(nil).plus(c.index.vector(m.slot).unpack(nil), features.vector, -1)
	c.index.change(m.slot, slices.DeleteFunc(left, func(t entry) bool { return t.weight <= 1e-4 }))
	e.squared = 0
}

// unlink removes an item from the list of an event's items.
func (c *Clusters) unlink(e *event, id key) {
	older := c.items[id].older
	e.items--
	if e.newest == id {
		e.newest = older
		return
	}
	for at := e.newest; ; {
		m := c.items[at]
		if m.older == id {
			m.older = older
			c.items[at] = m
			return
		}
		at = m.older
	}
}

// unvote revokes the vote of a host.
func (c *Clusters) unvote(e *event, host uint64) {
	var left []uint32
	for two := range slices.Chunk(c.arena.list(e.hosts), 2) {
		if two[0] != uint32(host) || two[1] != uint32(host>>32) {
			left = append(left, two...)
		}
	}
	c.arena.set(&e.hosts, left)
}

// keepApart keeps an event apart from the events of a story.
func (c *Clusters) keepApart(slot uint32, g *group) {
	for _, other := range c.eventsOf(g)[:min(g.events.len, maxKeptApart)] {
		c.AddOverride(Override{A: c.idOf(slot), B: c.idOf(other)})
	}
}

// AddOverride stores a decision without moving an event: after a rebuild from stored items. A later decision
// of a pair replaces an earlier one. Decisions about events outside the window are ignored.
func (c *Clusters) AddOverride(h Override) {
	if h.A > h.B {
		h.A, h.B = h.B, h.A
	}
	_, okA := c.byID[keyOf(h.A)]
	_, okB := c.byID[keyOf(h.B)]
	if h.A == h.B || !okA || !okB {
		return
	}
	c.removeOverride(h.A, h.B)
	c.overrides[h.A] = append(c.overrides[h.A], h)
	c.overrides[h.B] = append(c.overrides[h.B], h)
}

// Overrides returns the decisions about events in the window, sorted.
func (c *Clusters) Overrides() []Override {
	var list []Override
	for id, overrides := range c.overrides {
		for _, h := range overrides {
			if h.A == id {
				list = append(list, h)
			}
		}
	}
	slices.SortFunc(list, func(a, b Override) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return list
}

// removeOverride removes the decision about two events.
func (c *Clusters) removeOverride(a, b string) {
	if len(c.overrides[a]) == 0 {
		return
	}
	if a > b {
		a, b = b, a
	}
	for _, id := range []string{a, b} {
		c.setOverrides(id, slices.DeleteFunc(c.overrides[id], func(h Override) bool { return h.A == a && h.B == b }))
	}
}

// removeOverridesOf removes the decisions about an event.
func (c *Clusters) removeOverridesOf(id string) {
	for _, h := range slices.Clone(c.overrides[id]) {
		c.removeOverride(h.A, h.B)
	}
}

func (c *Clusters) setOverrides(id string, overrides []Override) {
	if len(overrides) == 0 {
		delete(c.overrides, id)
		return
	}
	c.overrides[id] = overrides
}

// heldTogether reports whether a decision keeps the events in two slots together.
func (c *Clusters) heldTogether(a, b uint32) bool {
	if len(c.overrides) == 0 {
		return false
	}
	other := c.idOf(b)
	return slices.ContainsFunc(c.overrides[c.idOf(a)], func(h Override) bool { return h.Together && (h.A == other || h.B == other) })
}

// apart reports whether a decision keeps two stories apart.
func (c *Clusters) apart(g, h *group) bool {
	if len(c.overrides) == 0 {
		return false
	}
	for _, slot := range c.eventsOf(g) {
		id := c.idOf(slot)
		for _, override := range c.overrides[id] {
			other := override.A
			if other == id {
				other = override.B
			}
			if at, ok := c.byID[keyOf(other)]; ok && !override.Together && c.storyOf(at) == h {
				return true
			}
		}
	}
	return false
}
