package story

import (
	"cmp"
	"errors"
	"slices"
)

// A Hand says that somebody decided of two events whether they are one story.
// What a hand says holds until one of the events expires.
type Hand struct {
	A        string `json:"a"` // ID of an event
	B        string `json:"b"` // of another, which comes later in the alphabet
	Together bool   `json:"together,omitempty"`
}

// ErrUnknown says that an item or event is not remembered.
var ErrUnknown = errors.New("not among what is live")

// ErrAlone says that an event is all there is of its story.
var ErrAlone = errors.New("it is a story of its own already")

const maxHands = 64 // events of a story from which one is held apart

// Join makes the stories of two events one, and holds the events together. It
// returns [ErrUnknown] if either is not remembered.
func (c *Clusters) Join(a, b string) error {
	s, okA := c.byID[keyOf(a)]
	t, okB := c.byID[keyOf(b)]
	if !okA || !okB {
		return ErrUnknown
	}
	g, h := c.storyOf(s), c.storyOf(t)
	for _, slot := range c.eventsOf(g) { // what held the stories apart is no more
		for _, other := range c.eventsOf(h) {
			c.release(c.idOf(slot), c.idOf(other))
		}
	}
	if g != h {
		c.merge(g, h, "by hand")
	}
	c.Hold(Hand{A: a, B: b, Together: true})
	return nil
}

// Split gives an event a story of its own, and holds it apart from the events of
// the one it was in. It returns [ErrUnknown] if the event is not remembered, and
// [ErrAlone] if it has a story of its own.
func (c *Clusters) Split(id string) error {
	slot, ok := c.byID[keyOf(id)]
	if !ok {
		return ErrUnknown
	}
	g := c.storyOf(slot)
	if g.events.len == 1 {
		return ErrAlone
	}
	c.leave(g, []uint32{slot}, "by hand")
	c.holdApart(slot, g)
	return nil
}

// SplitItem gives an item an event and a story of its own, held apart from those
// it was in. The item must be as it was when it was placed. It returns
// [ErrUnknown] if the item is not remembered, and [ErrAlone] if it has an event
// and a story of its own.
func (c *Clusters) SplitItem(item Item) (Placement, error) {
	m, ok := c.member(item.ID)
	if !ok {
		return Placement{}, ErrUnknown
	}
	slot := m.slot
	if c.events[slot].items == 1 {
		err := c.Split(c.idOf(slot))
		return c.placement(slot, Why{By: "hand"}), err
	}
	c.makeRoom(1)
	if m, ok = c.member(item.ID); !ok {
		return Placement{}, ErrUnknown
	}
	slot = m.slot
	says := c.reading(item)
	c.take(m, item, says)
	id := c.unusedEvent(item.ID) // the event it leaves may have begun with it
	fresh := c.open(id, item.Seen)
	c.found(c.unused(c.ids.Story(id)), fresh)
	c.join(fresh, item, says)
	c.holdApart(fresh, c.storyOf(slot))
	left, now := c.placement(slot, Why{}), c.placement(fresh, Why{By: "hand"})
	c.changes = append(c.changes, Change{
		Kind: Split, Story: left.StoryID, Into: now.StoryID, Events: []string{id}, Why: "by hand",
	})
	return now, nil
}

// take removes an item from an event of several.
func (c *Clusters) take(m member, item Item, says *Reading) {
	e := &c.events[m.slot]
	c.unlink(e, keyOf(item.ID))
	if !m.voted || e.votes < 2 {
		return // it says nothing of what the event is about, or all there is
	}
	e.votes--
	if item.Text != "" {
		e.texts = max(1, e.texts) - 1
	}
	c.unvote(e, hash(item.Host))
	left := vector(nil).plus(c.index.vector(m.slot).unpack(nil), says.vector, -1)
	c.index.change(m.slot, slices.DeleteFunc(left, func(t entry) bool { return t.weight <= 1e-4 }))
	e.squared = 0
}

// unlink takes an item out of the order of those of an event.
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

// unvote has a host vote no more.
func (c *Clusters) unvote(e *event, host uint64) {
	var left []uint32
	for two := range slices.Chunk(c.room.list(e.hosts), 2) {
		if two[0] != uint32(host) || two[1] != uint32(host>>32) {
			left = append(left, two...)
		}
	}
	c.room.set(&e.hosts, left)
}

// holdApart holds an event apart from those of a story.
func (c *Clusters) holdApart(slot uint32, g *group) {
	for _, other := range c.eventsOf(g)[:min(g.events.len, maxHands)] {
		c.Hold(Hand{A: c.idOf(slot), B: c.idOf(other)})
	}
}

// Hold remembers what a hand said, without moving anything: for those who rebuild
// Clusters from what they stored, once they did. Later ones stand in place of
// earlier ones; those of events that are not remembered are ignored.
func (c *Clusters) Hold(h Hand) {
	if h.A > h.B {
		h.A, h.B = h.B, h.A
	}
	_, okA := c.byID[keyOf(h.A)]
	_, okB := c.byID[keyOf(h.B)]
	if h.A == h.B || !okA || !okB {
		return
	}
	c.release(h.A, h.B)
	c.hands[h.A] = append(c.hands[h.A], h)
	c.hands[h.B] = append(c.hands[h.B], h)
}

// Hands returns what hands said of events that live, sorted.
func (c *Clusters) Hands() []Hand {
	var list []Hand
	for id, hands := range c.hands {
		for _, h := range hands {
			if h.A == id {
				list = append(list, h)
			}
		}
	}
	slices.SortFunc(list, func(a, b Hand) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return list
}

// release forgets what a hand said of two events.
func (c *Clusters) release(a, b string) {
	if len(c.hands[a]) == 0 {
		return
	}
	if a > b {
		a, b = b, a
	}
	for _, id := range []string{a, b} {
		c.setHands(id, slices.DeleteFunc(c.hands[id], func(h Hand) bool { return h.A == a && h.B == b }))
	}
}

// releaseHands forgets what hands said of an event.
func (c *Clusters) releaseHands(id string) {
	for _, h := range slices.Clone(c.hands[id]) {
		c.release(h.A, h.B)
	}
}

func (c *Clusters) setHands(id string, hands []Hand) {
	if len(hands) == 0 {
		delete(c.hands, id)
		return
	}
	c.hands[id] = hands
}

// held reports whether a hand holds the events in two slots together.
func (c *Clusters) held(a, b uint32) bool {
	if len(c.hands) == 0 {
		return false
	}
	other := c.idOf(b)
	return slices.ContainsFunc(c.hands[c.idOf(a)], func(h Hand) bool { return h.Together && (h.A == other || h.B == other) })
}

// apart reports whether a hand holds two stories apart.
func (c *Clusters) apart(g, h *group) bool {
	if len(c.hands) == 0 {
		return false
	}
	for _, slot := range c.eventsOf(g) {
		id := c.idOf(slot)
		for _, hand := range c.hands[id] {
			other := hand.A
			if other == id {
				other = hand.B
			}
			if at, ok := c.byID[keyOf(other)]; ok && !hand.Together && c.storyOf(at) == h {
				return true
			}
		}
	}
	return false
}
