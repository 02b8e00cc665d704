package story

import "time"

// Restore stores an item at its earlier placement, by these Clusters or by their predecessor, without a
// search. Items must come in their order of placement. placed must reflect later changes of their stories,
// and manual decisions follow after all items, by [Clusters.AddOverride]. O(terms); the first call of another
// method afterwards takes as long as all events together.
//
// Required are ID, Host, Seen and the duplicate's original, whether the item has a text, and its features
// ([Weights.Extract], which uses the first [MaxText] bytes of a text), unless [Clusters.NeedsText] returns
// false. If all items of all events in the window are restored, later answers equal those without a restart,
// except:
//
//   - The merge log is lost, so a story that is split gets the ID derived from its first event, where the log might have contained another.
//   - The events of a story are ordered by their beginning, not by the time they joined it: of more than 64 events others form its vector.
//   - After a manual split of an item, its host may vote again in the old event.
//
// An event that began before the first restored item loses its earlier terms: of a day's headlines one in
// five was placed elsewhere then. None was, if the items of twice the window were restored.
func (c *Clusters) Restore(item Item, placed Placement) {
	if _, ok := c.member(item.ID); ok {
		return
	}
	c.advance(item.Seen)
	c.index.stale = true
	c.evict(0)
	c.total++
	slot, ok := c.byID[keyOf(placed.EventID)]
	if !ok {
		c.evict(1)
		slot = c.open(placed.EventID, item.Seen)
		c.beginStory(placed.StoryID, slot)
	}
	var features *Features
	if c.votes(slot, item) {
		features = c.featuresOf(item)
	}
	c.join(slot, item, features)
	c.restored = c.now
	c.events[slot].changed = false
	c.changed = c.changed[:0]
}

// NeedsText reports whether [Clusters.Restore] needs the title and text of an item: not if it duplicates
// another item of its event, or its host has already voted in the event.
func (c *Clusters) NeedsText(item Item, placed Placement) bool {
	slot, ok := c.byID[keyOf(placed.EventID)]
	return !ok || c.votes(slot, item)
}

// votes reports whether a restored item contributes to the vector of its event.
func (c *Clusters) votes(slot uint32, item Item) bool {
	if item.DuplicateOf != "" {
		if m, ok := c.member(item.DuplicateOf); ok && m.slot == slot {
			return false
		}
	}
	return !c.hasVoted(&c.events[slot], item.Host)
}

// queueRecent schedules the most recent events for the first pass: the predecessor may have stopped before it
// processed them.
func (c *Clusters) queueRecent() {
	from := c.restored.Add(-2 * passInterval).UnixMicro()
	for slot, n := c.newest, 0; slot != none && n < 2*passItems && c.events[slot].last > from; slot, n = c.events[slot].prev, n+1 {
		if e := &c.events[slot]; !e.changed {
			e.changed = true
			c.changed = append(c.changed, slot)
		}
	}
	c.restored = time.Time{}
}
