package story

import "time"

// Remember takes back what was placed before, by these Clusters or those whose
// place they take, without a second thought. Items must come in the order in which
// they were placed; what became of their stories since must be in placed, and what
// hands said comes after all items, by [Clusters.Hold]. O(terms); what comes first
// after it takes as long as all events together.
//
// Of an item it needs ID, Host, Seen and Repeats, whether it has a Text, and what
// was read of its words ([Weights.Read]: of a text the first [MaxText] bytes are all
// that counts), unless [Clusters.Needs] says no. Where all items of all live events
// are taken back, answers are those that would have come without it, but for this:
//
//   - Which stories a story is made of is forgotten, so one that is taken apart
//     leaves under the ID that its first event gives it, where it might have had
//     another.
//   - The events of a story are in the order in which they began, not in that in
//     which they came to it: of more than 64 others tell what it is about.
//   - A host may say again what an event is about that lost its item to a hand.
//
// Of an event that began before the first item that comes, what it said before is
// lost: of a day's headlines one in five was elsewhere then. None was where the items
// of twice the window came.
func (c *Clusters) Remember(item Item, placed Placement) {
	if _, ok := c.member(item.ID); ok {
		return
	}
	c.hear(item.Seen)
	c.index.stale = true
	c.makeRoom(0)
	c.total++
	slot, ok := c.byID[keyOf(placed.EventID)]
	if !ok {
		c.makeRoom(1)
		slot = c.open(placed.EventID, item.Seen)
		c.found(placed.StoryID, slot)
	}
	var says *Reading
	if c.votes(slot, item) {
		says = c.reading(item)
	}
	c.join(slot, item, says)
	c.recalled = c.now
	c.events[slot].changed = false
	c.changed = c.changed[:0]
}

// Needs reports whether [Clusters.Remember] needs the words of an item, its title
// and text, to take it back: not if it repeats another one of its event, or its
// host said before what that is about.
func (c *Clusters) Needs(item Item, placed Placement) bool {
	slot, ok := c.byID[keyOf(placed.EventID)]
	return !ok || c.votes(slot, item)
}

// votes reports whether an item of an event that is taken back says what that is
// about.
func (c *Clusters) votes(slot uint32, item Item) bool {
	if item.Repeats != "" {
		if m, ok := c.member(item.Repeats); ok && m.slot == slot {
			return false
		}
	}
	return !c.knows(&c.events[slot], item.Host)
}

// recall makes the first pass look at what came last: those whose place we take may
// have had no time for it.
func (c *Clusters) recall() {
	from := c.recalled.Add(-2 * passEvery).UnixMicro()
	for slot, n := c.newest, 0; slot != none && n < 2*passItems && c.events[slot].last > from; slot, n = c.events[slot].prev, n+1 {
		if e := &c.events[slot]; !e.changed {
			e.changed = true
			c.changed = append(c.changed, slot)
		}
	}
	c.recalled = time.Time{}
}
