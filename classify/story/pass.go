package story

import (
	"fmt"
	"slices"
	"time"
)

// A Change says what became of a story.
type Change struct {
	Kind   ChangeKind
	Story  string   // ID of the story that changed
	Into   string   // where what it says Events of is now; empty if Kind is Expired
	Events []string // IDs of the events that moved
	Why    string
}

// A ChangeKind names a kind of change.
type ChangeKind string

// What becomes of stories.
const (
	Merged  ChangeKind = "merged"  // the story is part of Into
	Split   ChangeKind = "split"   // Into left the story
	Expired ChangeKind = "expired" // the story is forgotten
)

const (
	passItems = 500
	passEvery = time.Minute
)

// Tick does what is due at the time: each 500 items or minute it looks which of
// the events that changed belong to one story, and forgets what is too old. It
// returns what became of stories, in order, since the last time.
func (c *Clusters) Tick(now time.Time) []Change {
	c.hear(now)
	if c.placed >= passItems || c.now.Sub(c.passed) >= passEvery {
		c.expire()
		c.forgetAbove(c.limits.Events)
		if !c.recalled.IsZero() {
			c.recall()
		}
		c.pass()
	}
	changes := c.changes
	c.changes = nil
	return changes
}

// pass looks at all events that changed since the last one.
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
	clear(c.wholes)
}

// maxEvents is how many events stories have that become one by themselves: what goes
// on for weeks would draw all that is a little like it to itself.
const maxEvents = 8

func (g *group) hasRoomFor(h *group) bool { return g.events.len+h.events.len <= maxEvents }

// relate makes the stories of an event and of those nearest to it one, where
// they are near enough: the most alike first, for each merge changes what the
// story is about.
func (c *Clusters) relate(slot uint32) {
	e := &c.events[slot]
	var near []*group
	q := &c.asked
	c.index.askFor(q, c.index.vector(slot))
	for _, other := range c.index.candidates(q) {
		f := &c.events[other]
		g, h := c.storyOf(slot), c.storyOf(other)
		if g != h && g.hasRoomFor(h) && !slices.Contains(near, h) && c.alikeEvents(q, other, c.mergeNeed(e, f)) && !c.apart(g, h) {
			near = append(near, h)
		}
	}
	for len(near) > 0 {
		best, most := 0, -1.0
		for i, h := range near {
			if whole := c.alikeWholes(c.storyOf(slot), h); whole > most {
				best, most = i, whole
			}
		}
		h := near[best]
		if most < c.wholeNeed(e, &c.events[c.eventsOf(h)[0]]) {
			return
		}
		c.merge(c.storyOf(slot), h, fmt.Sprintf("alike by %.0f %%", 100*most))
		own := c.storyOf(slot)
		near = slices.DeleteFunc(near, func(g *group) bool { return g == own || g == h || !own.hasRoomFor(g) || c.apart(own, g) })
	}
}

// alikeEvents reports whether the event that is asked for and another one are as
// alike as they need be.
func (c *Clusters) alikeEvents(q *query, other uint32, need float64) bool {
	v := c.index.vector(other)
	dot := q.dot(v)
	return c.alike(c.atMost(q, dot, other)) >= need && c.alike(q.cosines(dot, c.index.square(v))) >= need
}

// alikeTo returns how much what is asked for and a vector say the same, from 0 to 1.
func (c *Clusters) alikeTo(q *query, v packed) float64 {
	return c.alike(q.cosines(q.dot(v), c.index.square(v)))
}

// alikeWholes returns how much two stories say the same, from 0 to 1.
func (c *Clusters) alikeWholes(g, h *group) float64 {
	c.index.askFor(&c.asked, c.whole(g))
	return c.alikeTo(&c.asked, c.whole(h))
}

func (c *Clusters) alike(cosine product) float64 {
	return (float64(c.weights.Cosine*cosine.all) + float64(c.weights.Names*cosine.names)) / (c.weights.Cosine + c.weights.Names)
}

// haveTexts reports whether most items of both events have a text.
func haveTexts(e, f *event) bool { return 2*e.texts > e.votes && 2*f.texts > f.votes }

// mergeNeed returns how alike two events must be for their stories to be compared.
func (c *Clusters) mergeNeed(e, f *event) float64 {
	if haveTexts(e, f) {
		return c.weights.MergeText
	}
	return c.weights.Merge
}

// wholeNeed returns how alike the stories of two events must be to become one.
func (c *Clusters) wholeNeed(e, f *event) float64 {
	if haveTexts(e, f) {
		return c.weights.WholeText
	}
	return c.weights.Whole
}

// maxWhole is how many events of a story say what it is about: the first, which
// stay the same from pass to pass.
const maxWhole = 64

// firstOf returns the events that say what a story is about.
func firstOf(slots []uint32) []uint32 { return slots[:min(len(slots), maxWhole)] }

// whole returns what a story is about: the sum of its events. It is remembered to
// the end of the pass, during which no event changes.
func (c *Clusters) whole(g *group) packed {
	whole, ok := c.wholes[g]
	if !ok {
		for _, slot := range firstOf(c.eventsOf(g)) {
			whole = c.index.plus(whole, c.index.vector(slot))
		}
		c.wholes[g] = whole
	}
	return whole
}
