package story

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Place stores an item and returns its event and story. An item that is still stored keeps its event, whose
// story may have merged with another. O(terms + candidates), independent of the number of events.
func (c *Clusters) Place(item Item) Placement {
	if m, ok := c.member(item.ID); ok {
		return c.placement(m.slot, Reason{By: "before"})
	}
	c.advance(item.Seen)
	c.evict(0)
	c.placed++
	c.total++
	if m, ok := c.member(item.DuplicateOf); ok {
		c.join(m.slot, item, nil)
		return c.placement(m.slot, Reason{By: "repeat", Score: 1})
	}
	features := c.featuresOf(item)
	slot, reason := c.nearest(features, item)
	if slot == none {
		c.evict(1)
		slot = c.open(c.unusedEvent(item.ID), item.Seen)
		reason = Reason{By: "first"}
		c.beginStory(c.ids.Story(c.idOf(slot)), slot)
	}
	c.join(slot, item, features)
	if reason.By == "first" { // the query already computed the square of its vector
		c.events[slot].square, c.events[slot].squared = c.query.square, c.total
	}
	return c.placement(slot, reason)
}

// featuresOf returns the features of an item: precomputed, or computed now.
func (c *Clusters) featuresOf(item Item) *Features {
	if item.Features != nil {
		return item.Features
	}
	return c.weights.Extract(item)
}

func (c *Clusters) placement(slot uint32, reason Reason) Placement {
	return Placement{EventID: c.idOf(slot), StoryID: c.arena.text(c.storyOf(slot).id), Reason: reason}
}

func (c *Clusters) advance(now time.Time) {
	if now.After(c.now) {
		c.now = now
	}
}

// nearest returns the slot of the event that an item joins, or none.
func (c *Clusters) nearest(features *Features, item Item) (uint32, Reason) {
	best, bestScore, bestCosine, bestThreshold := none, 0.0, 0.0, 0.0
	q := &c.query
	c.index.queryVector(q, features.vector)
	for _, slot := range c.index.candidates(q) {
		e := &c.events[slot]
		threshold, dot := c.threshold(e, item), q.dot(c.index.vector(slot))
		if c.score(c.atMost(q, dot, slot), e, item) < threshold {
			continue
		}
		similarity := q.cosines(dot, c.index.square(c.index.vector(slot)))
		score := c.score(similarity, e, item)
		if score >= threshold && score-threshold > bestScore-bestThreshold || best == none && score >= threshold {
			best, bestScore, bestCosine, bestThreshold = slot, score, similarity.all, threshold
		}
	}
	if best == none {
		return none, Reason{}
	}
	return best, Reason{By: "near", Score: bestScore, Threshold: bestThreshold, Cosine: bestCosine, Shared: c.shared(item, features, c.index.vector(best))}
}

// score returns the similarity of an item and an event, from 0 to 1.
func (c *Clusters) score(similarity product, e *event, item Item) float64 {
	w := &c.weights
	days := item.Seen.Sub(time.UnixMicro(e.last)).Hours() / 24
	return float64(w.Cosine*similarity.all) + float64(w.Names*similarity.names) + float64(w.Time*math.Exp(-days*days/18))
}

const (
	// squareHolds is the number of items for which the cached square of an event's vector is valid, in
	// addition to a quarter of the number of events: idf changes slowly, and more slowly with more events.
	squareValidity = 2000
	cosineSlack    = 1.5 // bound on the change of a cosine in that time
)

// atMost returns an upper bound of the cosines of a query and an event, from the event's cached square. The
// exact square reads all terms, and few candidates come near.
func (c *Clusters) atMost(q *query, dot product, slot uint32) product {
	e := &c.events[slot]
	if e.squared == 0 || c.total-e.squared > squareValidity+c.index.events/4 {
		e.square, e.squared = c.index.square(c.index.vector(slot)), c.total
	}
	p := q.cosines(dot, e.square)
	return product{min(1, cosineSlack*p.all), min(1, cosineSlack*p.names)}
}

// threshold returns the score at which an item joins an event. It is higher for large events, which keeps events
// from growing into each other.
func (c *Clusters) threshold(e *event, item Item) float64 {
	join := c.weights.Join
	if item.Text != "" && 2*e.texts > e.votes {
		join = c.weights.JoinText
	}
	return join + c.tighten(e.votes)
}

func (c *Clusters) tighten(votes uint32) float64 {
	if votes <= 8 {
		return 0
	}
	return c.weights.Tighten * math.Log2(float64(votes)/8)
}

// shared returns the heaviest words that an item and an event share.
func (c *Clusters) shared(item Item, features *Features, v packed) []string {
	var list []weightedWord
	for i, e := range features.vector {
		if word := features.spots[i].of(item); word != "" && v.has(e.term) {
			list = append(list, weightedWord{float64(e.weight) * c.index.idf(c.index.have(e.term)), word})
		}
	}
	slices.SortStableFunc(list, func(a, b weightedWord) int { return cmp.Compare(b.weight, a.weight) })
	var words []string
	for _, w := range list { // a word may represent both a stem and a name
		if len(words) < 5 && !slices.Contains(words, w.word) {
			words = append(words, w.word)
		}
	}
	return words
}

// weightedWord is a word and its weight.
type weightedWord struct {
	weight float64
	word   string
}

// join adds an item to an event. With nil features the event's vector stays unchanged.
func (c *Clusters) join(slot uint32, item Item, features *Features) {
	e := &c.events[slot]
	votes := features != nil && c.vote(e, item.Host)
	id := keyOf(item.ID)
	c.items[id] = member{older: e.newest, slot: slot, voted: votes}
	e.newest = id
	e.items++
	e.first, e.last = min(e.first, item.Seen.UnixMicro()), max(e.last, item.Seen.UnixMicro())
	c.touch(slot)
	if !votes {
		return
	}
	e.votes++
	if item.Text != "" {
		e.texts++
	}
	c.index.change(slot, c.sumWith(slot, features))
	e.squared = 0
	if !e.changed {
		e.changed = true
		c.changed = append(c.changed, slot)
	}
}

// sumWith returns the vector of an event plus one item. It is valid until the next call.
func (c *Clusters) sumWith(slot uint32, features *Features) vector {
	was := c.index.vector(slot)
	if was == nil {
		return features.vector
	}
	x := &c.index
	x.was = was.unpack(x.was)
	x.sum = x.sum.plus(x.was, features.vector, 1)
	if len(x.sum) >= maxTerms+slack {
		return x.sum.heaviest(maxTerms)
	}
	return x.sum
}

// slack is the number of terms above maxTerms at which an event's lightest terms are removed, so that they
// need not be found each time.
const slack = 50

// maxHosts is the number of hosts counted per event; more change nothing.
const maxHosts = 1000

// hasVoted reports whether a host has voted in an event.
func (c *Clusters) hasVoted(e *event, host string) bool {
	if host == "" {
		return false
	}
	h, hosts := hash(host), c.arena.list(e.hosts)
	for i := 0; i < len(hosts); i += 2 {
		if hosts[i] == uint32(h) && hosts[i+1] == uint32(h>>32) {
			return true
		}
	}
	return false
}

// vote reports whether a host's item may change the vector of an event: once per host.
func (c *Clusters) vote(e *event, host string) bool {
	if host == "" {
		return true
	}
	if c.hasVoted(e, host) || e.hosts.len >= 2*maxHosts {
		return false
	}
	h := hash(host)
	c.arena.push(&e.hosts, uint32(h), uint32(h>>32))
	return true
}

// unusedEvent returns an ID that no event has: the ID derived from the item, if it is free. An event may
// outlive its first item after a manual split.
func (c *Clusters) unusedEvent(itemID string) string {
	id := c.ids.Event(itemID)
	for {
		if _, ok := c.byID[keyOf(id)]; !ok {
			return id
		}
		id = c.ids.Event(id + "'")
	}
}

// open returns the slot of a new event.
func (c *Clusters) open(id string, seen time.Time) uint32 {
	var slot uint32
	if n := len(c.free); n > 0 {
		slot, c.free = c.free[n-1], c.free[:n-1]
	} else {
		slot = uint32(len(c.events))
		c.events = append(c.events, event{})
		c.index.addSlot()
	}
	at := seen.UnixMicro()
	c.events[slot] = event{id: c.arena.write(id), first: at, last: at, prev: none, next: none}
	c.byID[keyOf(id)] = slot
	c.index.events++
	c.opened++
	c.index.born[slot] = c.opened
	c.append(slot)
	return slot
}

// beginStory begins a story with an event. If the event expired before while its story stayed, the event returns
// to that story.
func (c *Clusters) beginStory(id string, slot uint32) {
	g := c.named(id)
	if g == nil {
		g = c.newGroup(id)
	}
	c.arena.push(&g.events, slot)
	c.events[slot].story = g.number
}

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

// Len returns the numbers of items, events and stories in the window.
func (c *Clusters) Len() (items, events, stories int) {
	return len(c.items), len(c.byID), len(c.stories)
}
