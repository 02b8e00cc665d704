package story

// groupBlock is the number of groups in one allocation. Pointers to groups stay valid while others are added.
const groupBlock = 1 << 8

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
