package story

// Remember takes back what was placed before, by these Clusters or those whose
// place they take, without a second thought. Items must come in the order in which
// they were placed; what became of their stories since must be in placed. O(terms).
func (c *Clusters) Remember(item Item, placed Placement) {
	if _, ok := c.items[item.ID]; ok {
		return
	}
	c.hear(item.Seen)
	c.makeRoom()
	c.total++
	slot, ok := c.byID[placed.EventID]
	if !ok {
		slot = c.open(placed.EventID, item.Seen)
		c.found(placed.StoryID, slot)
	}
	var v vector
	if item.Repeats == "" && !c.events[slot].knows(item.Host) {
		v = c.vector(c.reader.terms(&c.weights, item.Title, item.Text, item.Language))
	}
	c.join(slot, item, v)
	c.index.forget(v)
	// Passes looked at it before.
	c.events[slot].changed = false
	c.changed = c.changed[:0]
}
