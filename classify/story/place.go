package story

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Place says which event and story an item belongs to, and remembers it. An item
// that is still remembered is where it was, though its story may have become part
// of another. O(terms + candidates), whatever the number of events.
func (c *Clusters) Place(item Item) Placement {
	if m, ok := c.items[item.ID]; ok {
		return c.placement(m.slot, Why{By: "before"})
	}
	c.hear(item.Seen)
	c.makeRoom()
	c.placed++
	c.total++
	if m, ok := c.items[item.Repeats]; ok && item.Repeats != "" {
		c.join(m.slot, item, nil)
		return c.placement(m.slot, Why{By: "repeat", Score: 1})
	}
	terms := c.reader.terms(&c.weights, item.Title, item.Text, item.Language)
	v := c.vector(terms)
	slot, why := c.nearest(v, terms, item)
	if slot == none {
		slot = c.open(c.ids.Event(item.ID), item.Seen)
		why = Why{By: "first"}
		c.found(c.ids.Story(c.events[slot].id), slot)
	}
	c.join(slot, item, v)
	c.index.forget(v)
	return c.placement(slot, why)
}

func (c *Clusters) placement(slot uint32, why Why) Placement {
	e := &c.events[slot]
	return Placement{EventID: e.id, StoryID: e.story.id, Why: why}
}

func (c *Clusters) hear(now time.Time) {
	if now.After(c.now) {
		c.now = now
	}
}

// maxItemTerms is how many terms of an item count.
const maxItemTerms = maxTerms

// vector returns the vector of an item, of length 1. All its terms are in the
// index until it is told to forget them.
func (c *Clusters) vector(terms []term) vector {
	// Term and weight in one number sort by term, and much faster than entries do.
	packed := c.packed[:0]
	for _, t := range terms {
		packed = append(packed, uint64(c.index.term(t.hash, t.kind))<<32|uint64(math.Float32bits(float32(t.weight))))
	}
	c.packed = packed
	slices.Sort(packed)
	v := make(vector, len(terms))
	for i, p := range packed {
		v[i] = entry{uint32(p >> 32), math.Float32frombits(uint32(p))}
	}
	all := v
	v = c.index.heaviest(v, maxItemTerms)
	if len(all) > len(v) {
		keep := make(map[uint32]bool, len(v))
		for _, e := range v {
			keep[e.term] = true
		}
		c.index.forget(slices.DeleteFunc(all, func(e entry) bool { return keep[e.term] }))
	}
	if length := math.Sqrt(c.index.square(v).all); length > 0 {
		for i := range v {
			v[i].weight = float32(float64(v[i].weight) / length)
		}
	}
	return v
}

// nearest returns the slot of the event that an item joins, or none.
func (c *Clusters) nearest(v vector, terms []term, item Item) (uint32, Why) {
	best, bestScore, bestCosine, bestNeed := none, 0.0, 0.0, 0.0
	square := c.index.square(v)
	for _, slot := range c.index.candidates(v) {
		e := &c.events[slot]
		alike := c.index.cosines(v, e.centroid, square, c.square(e))
		score := c.score(alike, e, item)
		if need := c.need(e, item); score >= need && score-need > bestScore-bestNeed || best == none && score >= need {
			best, bestScore, bestCosine, bestNeed = slot, score, alike.all, need
		}
	}
	if best == none {
		return none, Why{}
	}
	return best, Why{By: "near", Score: bestScore, Threshold: bestNeed, Cosine: bestCosine, Shared: c.shared(terms, c.events[best].centroid)}
}

// score returns how near an item is to an event, from 0 to 1.
func (c *Clusters) score(alike product, e *event, item Item) float64 {
	w := &c.weights
	days := item.Seen.Sub(e.last).Hours() / 24
	return float64(w.Cosine*alike.all) + float64(w.Names*alike.names) + float64(w.Time*math.Exp(-days*days/18))
}

// squareHolds is for how many items the product of a centroid with itself is good,
// beside a quarter of how many events there are: what terms say in general changes
// slowly, and slower the more there is.
const squareHolds = 2000

// square returns the product of an event's centroid with itself.
func (c *Clusters) square(e *event) product {
	if e.squared == 0 || c.total-e.squared > squareHolds+c.index.events/4 {
		e.square, e.squared = c.index.square(e.centroid), c.total
	}
	return e.square
}

// need returns the score at which an item joins an event: more where the event
// is large, which is what keeps events from growing into each other.
func (c *Clusters) need(e *event, item Item) float64 {
	join := c.weights.Join
	if item.Text != "" && 2*e.texts > e.votes {
		join = c.weights.JoinText
	}
	return join + c.tighten(e.votes)
}

func (c *Clusters) tighten(votes int) float64 {
	if votes <= 8 {
		return 0
	}
	return c.weights.Tighten * math.Log2(float64(votes)/8)
}

// shared returns the words that an item and an event share and that say most.
func (c *Clusters) shared(terms []term, centroid vector) []string {
	type word struct {
		weight float64
		word   string
	}
	var list []word
	for _, t := range terms {
		at, ok := c.index.terms[t.hash]
		if t.word == "" || !ok {
			continue
		}
		if _, ok := slices.BinarySearchFunc(centroid, at, func(e entry, t uint32) int { return cmp.Compare(e.term, t) }); ok {
			list = append(list, word{t.weight * c.index.idf(at), t.word})
		}
	}
	slices.SortStableFunc(list, func(a, b word) int { return cmp.Compare(b.weight, a.weight) })
	var words []string
	for _, w := range list[:min(len(list), 5)] {
		words = append(words, w.word)
	}
	return words
}

// join adds an item to an event. v is nil if what it says is there already.
func (c *Clusters) join(slot uint32, item Item, v vector) {
	e := &c.events[slot]
	votes := v != nil && e.vote(item.Host)
	c.items[item.ID] = member{slot, votes}
	e.items = append(e.items, item.ID)
	if item.Seen.After(e.last) {
		e.last = item.Seen
	}
	if item.Seen.Before(e.first) {
		e.first = item.Seen
	}
	c.touch(slot)
	if !votes {
		return
	}
	e.votes++
	if item.Text != "" {
		e.texts++
	}
	now := c.index.plus(e.centroid, v, 1, maxTerms+slack)
	if len(now) == maxTerms+slack {
		now = c.index.heaviest(now, maxTerms)
	}
	c.index.change(slot, e.centroid, now)
	e.centroid, e.squared = now, 0
	if !e.changed {
		e.changed = true
		c.changed = append(c.changed, slot)
	}
}

// slack is how many terms a centroid may have above maxTerms until the lightest go,
// so that they need not be found each time.
const slack = 50

// maxHosts is how many hosts of an event are told apart; more change nothing.
const maxHosts = 1000

// knows reports whether a host said already what an event is about.
func (e *event) knows(host string) bool {
	_, ok := e.hosts[hash(host)]
	return ok && host != ""
}

// vote reports whether a host may say what an event is about: once.
func (e *event) vote(host string) bool {
	if host == "" {
		return true
	}
	if e.knows(host) || len(e.hosts) >= maxHosts {
		return false
	}
	if e.hosts == nil {
		e.hosts = make(map[uint64]struct{})
	}
	e.hosts[hash(host)] = struct{}{}
	return true
}

// open returns the slot of a new event.
func (c *Clusters) open(id string, seen time.Time) uint32 {
	var slot uint32
	if n := len(c.free); n > 0 {
		slot, c.free = c.free[n-1], c.free[:n-1]
	} else {
		slot = uint32(len(c.events))
		c.events = append(c.events, event{})
		c.index.gens, c.index.kept = append(c.index.gens, 0), append(c.index.kept, 0)
		c.index.score = append(c.index.score, 0)
	}
	c.events[slot] = event{id: id, first: seen, last: seen, prev: none, next: none}
	c.byID[id] = slot
	c.index.gens[slot]++
	c.index.events++
	c.append(slot)
	return slot
}

// found begins a story with an event. The story of an event that was forgotten
// may live on by its others: then the event comes back to it.
func (c *Clusters) found(id string, slot uint32) *group {
	g := c.stories[id]
	if g == nil {
		g = &group{id: id}
		c.stories[id] = g
	}
	g.events = append(g.events, slot)
	c.events[slot].story = g
	return g
}
