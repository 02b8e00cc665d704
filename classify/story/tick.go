package story

import (
	"fmt"
	"slices"
	"time"
)

const (
	passItems    = 500
	passInterval = time.Minute
)

// Tick advances the clock. Every 500 items or every minute it merges similar stories among those that
// changed, splits stories, and removes expired events. It returns the changes since the last call, in order.
func (c *Clusters) Tick(now time.Time) []Change {
	c.advance(now)
	if c.placed >= passItems || c.now.Sub(c.passed) >= passInterval {
		c.expire()
		c.evictAbove(c.limits.Events)
		if !c.restored.IsZero() {
			c.queueRecent()
		}
		c.pass()
	}
	changes := c.changes
	c.changes = nil
	return changes
}

// pass processes all events that changed since the last pass.
func (c *Clusters) pass() {
	c.placed, c.passed = 0, c.now
	c.passes++
	changed := c.changed
	c.changed = nil
	for _, slot := range changed {
		if e := &c.events[slot]; e.changed && e.id != 0 {
			e.changed = false
			c.relate(slot)
		}
	}
	for _, slot := range changed {
		if c.events[slot].id == 0 {
			continue
		}
		if g := c.storyOf(slot); g.checked != c.passes {
			g.checked = c.passes
			c.check(g)
		}
	}
	clear(c.storyVectors)
}

// maxEvents bounds the events of stories that merge automatically: a story of weeks would attract everything
// slightly similar.
const maxEvents = 8

func (g *group) hasRoomFor(h *group) bool { return g.events.len+h.events.len <= maxEvents }

// relate merges the story of an event with the stories of the nearest events, if they are similar enough. The
// most similar merges first, since each merge changes the story's vector.
func (c *Clusters) relate(slot uint32) {
	e := &c.events[slot]
	var near []*group
	q := &c.query
	c.index.queryStored(q, c.index.vector(slot))
	for _, other := range c.index.candidates(q) {
		f := &c.events[other]
		g, h := c.storyOf(slot), c.storyOf(other)
		if g != h && g.hasRoomFor(h) && !slices.Contains(near, h) && c.similarEvents(q, other, c.eventThreshold(e, f)) && !c.apart(g, h) {
			near = append(near, h)
		}
	}
	for len(near) > 0 {
		best, most := 0, -1.0
		for i, h := range near {
			if storyVector := c.storySimilarity(c.storyOf(slot), h); storyVector > most {
				best, most = i, storyVector
			}
		}
		h := near[best]
		if most < c.storyThreshold(e, &c.events[c.eventsOf(h)[0]]) {
			return
		}
		c.merge(c.storyOf(slot), h, fmt.Sprintf("%.0f %% similar", 100*most))
		own := c.storyOf(slot)
		near = slices.DeleteFunc(near, func(g *group) bool { return g == own || g == h || !own.hasRoomFor(g) || c.apart(own, g) })
	}
}

// similarEvents reports whether the similarity of a query and an event reaches need.
func (c *Clusters) similarEvents(q *query, other uint32, threshold float64) bool {
	v := c.index.vector(other)
	dot := q.dot(v)
	return c.similarity(c.atMost(q, dot, other)) >= threshold && c.similarity(q.cosines(dot, c.index.square(v))) >= threshold
}

// similarityTo returns the similarity of a query and a vector, from 0 to 1.
func (c *Clusters) similarityTo(q *query, v packed) float64 {
	return c.similarity(q.cosines(q.dot(v), c.index.square(v)))
}

// storySimilarity returns the similarity of two stories, from 0 to 1.
func (c *Clusters) storySimilarity(g, h *group) float64 {
	c.index.queryStored(&c.query, c.storyVector(g))
	return c.similarityTo(&c.query, c.storyVector(h))
}

func (c *Clusters) similarity(cosine product) float64 {
	return (float64(c.weights.Cosine*cosine.all) + float64(c.weights.Names*cosine.names)) / (c.weights.Cosine + c.weights.Names)
}

// haveTexts reports whether most items of both events have a text.
func haveTexts(e, f *event) bool { return 2*e.texts > e.votes && 2*f.texts > f.votes }

// eventThreshold returns the similarity at which two events have their stories compared.
func (c *Clusters) eventThreshold(e, f *event) float64 {
	if haveTexts(e, f) {
		return c.weights.MergeText
	}
	return c.weights.Merge
}

// storyThreshold returns the similarity at which the stories of two events merge.
func (c *Clusters) storyThreshold(e, f *event) float64 {
	if haveTexts(e, f) {
		return c.weights.WholeText
	}
	return c.weights.Whole
}

// maxVectorEvents is the number of events of a story that form its vector: the first events, which are stable
// between passes.
const maxVectorEvents = 64

// firstOf returns the events that form a story's vector.
func firstOf(slots []uint32) []uint32 { return slots[:min(len(slots), maxVectorEvents)] }

// storyVector returns the vector of a story: the sum of its events. It is cached for the pass, during which no
// event changes.
func (c *Clusters) storyVector(g *group) packed {
	storyVector, ok := c.storyVectors[g]
	if !ok {
		for _, slot := range firstOf(c.eventsOf(g)) {
			storyVector = c.index.plus(storyVector, c.index.vector(slot))
		}
		c.storyVectors[g] = storyVector
	}
	return storyVector
}

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
