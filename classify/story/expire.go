package story

import (
	"slices"
	"time"
)

// append makes an event the one touched last.
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

// remove takes an event out of the order.
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

// considered is how many of the oldest events are looked at for the smallest.
const considered = 64

// over is one in how many live events there may be beside the limit until the next
// pass: to forget one takes as long as to place an item.
const over = 200

// makeRoom forgets events until there is room for an item and so many more events.
func (c *Clusters) makeRoom(events int) {
	c.forgetAbove(c.limits.Events + c.limits.Events/over - events)
}

// forgetAbove forgets events until there are so many at most, and room for an item.
func (c *Clusters) forgetAbove(events int) {
	for len(c.byID) > events || len(c.items) >= c.limits.Items {
		victim := c.oldest
		at := victim
		for range considered {
			if at == none {
				break
			}
			if c.events[at].items < c.events[victim].items {
				victim = at
			}
			at = c.events[at].next
		}
		c.forget(victim, "there was no room")
	}
}

// expire forgets the events that had no item for longer than the window.
func (c *Clusters) expire() {
	for c.oldest != none && c.now.Sub(time.UnixMicro(c.events[c.oldest].last)) > c.limits.Window {
		c.forget(c.oldest, "nothing new came")
	}
}

// forget forgets an event, and its story with the last of its events.
func (c *Clusters) forget(slot uint32, why string) {
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
	c.room.set(&g.events, slices.DeleteFunc(slices.Clone(c.eventsOf(g)), func(s uint32) bool { return s == slot }))
	if g.events.len == 0 {
		c.changes = append(c.changes, Change{Kind: Expired, Story: c.room.text(g.id), Why: why})
		c.end(g)
	}
	c.releaseHands(id)
	c.room.erase(e.id)
	c.room.set(&e.hosts, nil)
	*e = event{}
	c.free = append(c.free, slot)
}
