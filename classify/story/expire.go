package story

import (
	"slices"
	"time"
)

// append moves an event to the end of the order of use.
func (c *Clusters) append(slot uint32) {
	e := &c.events[slot]
	e.prev, e.next = c.newest, none
	if c.newest == none {
		c.oldest = slot
	} else {
		c.events[c.newest].next = slot
	}
	c.newest = slot
}

// remove removes an event from the order of use.
func (c *Clusters) remove(slot uint32) {
	e := &c.events[slot]
	if e.prev == none {
		c.oldest = e.next
	} else {
		c.events[e.prev].next = e.next
	}
	if e.next == none {
		c.newest = e.prev
	} else {
		c.events[e.next].prev = e.prev
	}
}

func (c *Clusters) touch(slot uint32) {
	if c.newest != slot {
		c.remove(slot)
		c.append(slot)
	}
}

// evictionCandidates is the number of oldest events among which the smallest is evicted.
const evictionCandidates = 64

// overflowShare is the inverse of the share of events allowed above the limit until the next pass: eviction takes as
// long as placement.
const overflowShare = 200

// evict evicts events until an item and the given number of new events fit.
func (c *Clusters) evict(events int) {
	c.evictAbove(c.limits.Events + c.limits.Events/overflowShare - events)
}

// evictAbove evicts events down to the given number, and until one item fits.
func (c *Clusters) evictAbove(events int) {
	for len(c.byID) > events || len(c.items) >= c.limits.Items {
		victim := c.oldest
		at := victim
		for range evictionCandidates {
			if at == none {
				break
			}
			if c.events[at].items < c.events[victim].items {
				victim = at
			}
			at = c.events[at].next
		}
		c.removeEvent(victim, "evicted: the limit was reached")
	}
}

// expire removes the events without a new item within the window.
func (c *Clusters) expire() {
	for c.oldest != none && c.now.Sub(time.UnixMicro(c.events[c.oldest].last)) > c.limits.Window {
		c.removeEvent(c.oldest, "expired: no new items")
	}
}

// removeEvent removes an event, and with its last event the story.
func (c *Clusters) removeEvent(slot uint32, reason string) {
	e := &c.events[slot]
	for id := e.newest; e.items > 0; e.items-- {
		m := c.items[id]
		delete(c.items, id)
		id = m.older
	}
	c.index.change(slot, nil)
	c.index.events--
	c.remove(slot)
	id, g := c.idOf(slot), c.storyOf(slot)
	delete(c.byID, keyOf(id))
	c.arena.set(&g.events, slices.DeleteFunc(slices.Clone(c.eventsOf(g)), func(s uint32) bool { return s == slot }))
	if g.events.len == 0 {
		c.changes = append(c.changes, Change{Kind: Expired, Story: c.arena.text(g.id), Reason: reason})
		c.end(g)
	}
	c.removeOverridesOf(id)
	c.arena.erase(e.id)
	c.arena.set(&e.hosts, nil)
	*e = event{}
	c.free = append(c.free, slot)
}
