package story

import (
	"fmt"
	"math"
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

// leastCosine is the cosine of two events from which their stories are compared; lower ones never merge.
const leastCosine = 0.03

// relate merges the story of an event with the stories of the nearest events, if they are similar enough. The
// most similar merges first, since each merge changes the story's vector.
func (c *Clusters) relate(slot uint32) {
	type neighbour struct {
		slot     uint32
		evidence Evidence
	}
	var near []neighbour
	mergeable := func(n neighbour) bool {
		g, h := c.storyOf(slot), c.storyOf(n.slot)
		return g != h && g.hasRoomFor(h) && !c.apart(g, h)
	}
	q := &c.query
	c.index.queryStored(q, c.index.vector(slot))
	for _, other := range c.index.candidates(q) {
		n := neighbour{slot: other}
		if !mergeable(n) || slices.ContainsFunc(near, func(m neighbour) bool { return c.storyOf(m.slot) == c.storyOf(other) }) {
			continue
		}
		if n.evidence = c.index.compare(q, c.index.vector(other)); n.evidence[AllTerms] >= leastCosine {
			near = append(near, n)
		}
	}
	for len(near) > 0 {
		best, most, cosine := 0, math.Inf(-1), 0.0
		for i, n := range near {
			evidence := c.mergeEvidence(slot, n.slot, n.evidence)
			if log := evidence.times(c.mergeModel(slot, n.slot)) - c.separated(slot, n.slot); log > most {
				best, most, cosine = i, log, evidence.Stories[AllTerms]
			}
		}
		if most < 0 {
			return
		}
		c.merge(c.storyOf(slot), c.storyOf(near[best].slot), fmt.Sprintf("%.0f %% similar", 100*cosine))
		near = slices.DeleteFunc(near, func(n neighbour) bool { return !mergeable(n) })
	}
}

// mergeEvidence returns the evidence of the stories of two events, whose own evidence is given.
func (c *Clusters) mergeEvidence(slot, other uint32, events Evidence) MergeEvidence {
	g, h := c.storyOf(slot), c.storyOf(other)
	c.index.queryStored(&c.query, c.storyVector(g))
	e := MergeEvidence{Events: events, Stories: c.index.compare(&c.query, c.storyVector(h))}
	e.SmallerEvent, e.LargerEvent = sizes(c.events[slot].votes, c.events[other].votes)
	e.SmallerStory, e.LargerStory = sizes(c.sum(c.eventsOf(g)), c.sum(c.eventsOf(h)))
	e.AllEvents = math.Log2(float64(g.events.len + h.events.len))
	if c.observe != nil {
		c.observe(c.idOf(slot), c.idOf(other), e)
	}
	return e
}

// sizes returns the binary logarithms of two numbers of votes, the smaller first.
func sizes(a, b uint32) (smaller, larger float64) {
	return math.Log2(float64(max(1, min(a, b)))), math.Log2(float64(max(1, a, b)))
}

// ObserveMerges has a function called with the events and the evidence of each pair of stories that may merge. It is
// for training.
func (c *Clusters) ObserveMerges(observe func(eventID, otherID string, e MergeEvidence)) {
	c.observe = observe
}

// mergeModel returns the model for the stories of two events.
func (c *Clusters) mergeModel(slot, other uint32) *MergeEvidence {
	if haveTexts(&c.events[slot], &c.events[other]) {
		return &c.weights.MergeTexts
	}
	return &c.weights.MergeTitles
}

// separated returns the log odds that are needed in addition because one event began long after the other.
func (c *Clusters) separated(slot, other uint32) float64 {
	e, f := &c.events[slot], &c.events[other]
	if e.first > f.first {
		e, f = f, e
	}
	return c.faded(e, e.votes+f.votes, f.first, maxMergeAge)
}

// haveTexts reports whether most items of both events have a text.
func haveTexts(e, f *event) bool { return 2*e.texts > e.votes && 2*f.texts > f.votes }

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

// Limit changes the maximum number of events. The next call of Place or Tick evicts those above it.
func (c *Clusters) Limit(events int) { c.limits.Events = events }

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
		c.evicted = max(c.evicted, c.events[victim].last)
		c.removeEvent(victim, "evicted: the limit was reached")
	}
}

// Span returns the time since when all events with a new item are stored: the window, or less if there were more events or
// items than the limits allow.
func (c *Clusters) Span() time.Duration {
	if c.evicted == 0 {
		return c.limits.Window
	}
	return min(c.limits.Window, max(0, c.now.Sub(time.UnixMicro(c.evicted))))
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
