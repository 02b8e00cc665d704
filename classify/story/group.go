package story

// groupBlock is how many groups have one piece of memory: to point to one of them is
// safe while others come.
const groupBlock = 1 << 8

// group returns the group of a number.
func (c *Clusters) group(number uint32) *group {
	return &c.groups[number/groupBlock][number%groupBlock]
}

// storyOf returns the story of the event in a slot.
func (c *Clusters) storyOf(slot uint32) *group { return c.group(c.events[slot].story) }

// named returns the story of an ID, nil if there is none.
func (c *Clusters) named(id string) *group {
	if number, ok := c.stories[keyOf(id)]; ok {
		return c.group(number)
	}
	return nil
}

// newGroup returns a story of no events.
func (c *Clusters) newGroup(id string) *group {
	if len(c.dead) == 0 {
		from := uint32(len(c.groups) * groupBlock)
		c.groups = append(c.groups, new([groupBlock]group))
		for i := range uint32(groupBlock) {
			c.dead = append(c.dead, from+groupBlock-1-i)
		}
	}
	last := len(c.dead) - 1
	number := c.dead[last]
	c.dead = c.dead[:last]
	g := c.group(number)
	*g = group{number: number, id: c.room.write(id)}
	c.stories[keyOf(id)] = number
	return g
}

// end removes a story, of which the events went elsewhere.
func (c *Clusters) end(g *group) {
	delete(c.stories, keyOf(c.room.text(g.id)))
	delete(c.undo, g.number)
	c.room.erase(g.id)
	c.room.set(&g.events, nil)
	c.dead = append(c.dead, g.number)
}

// idOf returns the ID of the event in a slot.
func (c *Clusters) idOf(slot uint32) string { return c.room.text(c.events[slot].id) }

// eventsOf returns the slots of a story's events, until they change.
func (c *Clusters) eventsOf(g *group) []uint32 { return c.room.list(g.events) }

// member returns what is known of an item.
func (c *Clusters) member(id string) (member, bool) {
	m, ok := c.items[keyOf(id)]
	return m, ok
}
