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
	if m, ok := c.member(item.ID); ok {
		return c.placement(m.slot, Why{By: "before"})
	}
	c.hear(item.Seen)
	c.makeRoom(0)
	c.placed++
	c.total++
	if m, ok := c.member(item.Repeats); ok {
		c.join(m.slot, item, nil)
		return c.placement(m.slot, Why{By: "repeat", Score: 1})
	}
	says := c.reading(item)
	slot, why := c.nearest(says, item)
	if slot == none {
		c.makeRoom(1)
		slot = c.open(c.unusedEvent(item.ID), item.Seen)
		why = Why{By: "first"}
		c.found(c.ids.Story(c.idOf(slot)), slot)
	}
	c.join(slot, item, says)
	if why.By == "first" { // what it says was asked for: that needs no measuring again
		c.events[slot].square, c.events[slot].squared = c.asked.square, c.total
	}
	return c.placement(slot, why)
}

// reading returns what the words of an item say: what was read of them before, or
// now.
func (c *Clusters) reading(item Item) *Reading {
	if item.Read != nil {
		return item.Read
	}
	return c.weights.Read(item)
}

func (c *Clusters) placement(slot uint32, why Why) Placement {
	return Placement{EventID: c.idOf(slot), StoryID: c.room.text(c.storyOf(slot).id), Why: why}
}

func (c *Clusters) hear(now time.Time) {
	if now.After(c.now) {
		c.now = now
	}
}

// nearest returns the slot of the event that an item joins, or none.
func (c *Clusters) nearest(says *Reading, item Item) (uint32, Why) {
	best, bestScore, bestCosine, bestNeed := none, 0.0, 0.0, 0.0
	q := &c.asked
	c.index.ask(q, says.vector)
	for _, slot := range c.index.candidates(q) {
		e := &c.events[slot]
		need, dot := c.need(e, item), q.dot(c.index.vector(slot))
		if c.score(c.atMost(q, dot, slot), e, item) < need {
			continue
		}
		alike := q.cosines(dot, c.index.square(c.index.vector(slot)))
		score := c.score(alike, e, item)
		if score >= need && score-need > bestScore-bestNeed || best == none && score >= need {
			best, bestScore, bestCosine, bestNeed = slot, score, alike.all, need
		}
	}
	if best == none {
		return none, Why{}
	}
	return best, Why{By: "near", Score: bestScore, Threshold: bestNeed, Cosine: bestCosine, Shared: c.shared(item, says, c.index.vector(best))}
}

// score returns how near an item is to an event, from 0 to 1.
func (c *Clusters) score(alike product, e *event, item Item) float64 {
	w := &c.weights
	days := item.Seen.Sub(time.UnixMicro(e.last)).Hours() / 24
	return float64(w.Cosine*alike.all) + float64(w.Names*alike.names) + float64(w.Time*math.Exp(-days*days/18))
}

const (
	// squareHolds is for how many items the product of an event's vector with itself
	// is remembered, beside a quarter of how many events there are: what terms say in
	// general changes slowly, and slower the more there is.
	squareHolds = 2000
	slackened   = 1.5 // how much that may make of a cosine
)

// atMost returns more than the cosines of a query and an event: by what the event's
// product with itself was some time ago. To measure it reads all terms, and few
// events that share some of them come near.
func (c *Clusters) atMost(q *query, dot product, slot uint32) product {
	e := &c.events[slot]
	if e.squared == 0 || c.total-e.squared > squareHolds+c.index.events/4 {
		e.square, e.squared = c.index.square(c.index.vector(slot)), c.total
	}
	p := q.cosines(dot, e.square)
	return product{min(1, slackened*p.all), min(1, slackened*p.names)}
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

func (c *Clusters) tighten(votes uint32) float64 {
	if votes <= 8 {
		return 0
	}
	return c.weights.Tighten * math.Log2(float64(votes)/8)
}

// shared returns the words that an item and an event share and that say most.
func (c *Clusters) shared(item Item, says *Reading, v packed) []string {
	var list []heavy
	for i, e := range says.vector {
		if word := says.spots[i].of(item); word != "" && v.has(e.term) {
			list = append(list, heavy{float64(e.weight) * c.index.idf(c.index.have(e.term)), word})
		}
	}
	slices.SortStableFunc(list, func(a, b heavy) int { return cmp.Compare(b.weight, a.weight) })
	var words []string
	for _, w := range list { // a word may stand for a stem and for a name
		if len(words) < 5 && !slices.Contains(words, w.word) {
			words = append(words, w.word)
		}
	}
	return words
}

// A heavy word is one with what it says.
type heavy struct {
	weight float64
	word   string
}

// join adds an item to an event. says is nil if what it says is there already.
func (c *Clusters) join(slot uint32, item Item, says *Reading) {
	e := &c.events[slot]
	votes := says != nil && c.vote(e, item.Host)
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
	c.index.change(slot, c.about(slot, says))
	e.squared = 0
	if !e.changed {
		e.changed = true
		c.changed = append(c.changed, slot)
	}
}

// about returns what an event is about with one more item, until it is called again.
func (c *Clusters) about(slot uint32, says *Reading) vector {
	was := c.index.vector(slot)
	if was == nil {
		return says.vector
	}
	x := &c.index
	x.was = was.unpack(x.was)
	x.sum = x.sum.plus(x.was, says.vector, 1)
	if len(x.sum) >= maxTerms+slack {
		return x.sum.heaviest(maxTerms)
	}
	return x.sum
}

// slack is how many terms an event's vector may have above maxTerms until the
// lightest go, so that they need not be found each time.
const slack = 50

// maxHosts is how many hosts of an event are told apart; more change nothing.
const maxHosts = 1000

// knows reports whether a host said already what an event is about.
func (c *Clusters) knows(e *event, host string) bool {
	if host == "" {
		return false
	}
	h, hosts := hash(host), c.room.list(e.hosts)
	for i := 0; i < len(hosts); i += 2 {
		if hosts[i] == uint32(h) && hosts[i+1] == uint32(h>>32) {
			return true
		}
	}
	return false
}

// vote reports whether a host may say what an event is about: once.
func (c *Clusters) vote(e *event, host string) bool {
	if host == "" {
		return true
	}
	if c.knows(e, host) || e.hosts.len >= 2*maxHosts {
		return false
	}
	h := hash(host)
	c.room.push(&e.hosts, uint32(h), uint32(h>>32))
	return true
}

// unusedEvent returns an ID that no event has: the one that an item's gives, if it
// may. An event may have outlived its first item, which a hand took from it.
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
	c.events[slot] = event{id: c.room.write(id), first: at, last: at, prev: none, next: none}
	c.byID[keyOf(id)] = slot
	c.index.events++
	c.opened++
	c.index.born[slot] = c.opened
	c.append(slot)
	return slot
}

// found begins a story with an event. The story of an event that was forgotten
// may live on by its others: then the event comes back to it.
func (c *Clusters) found(id string, slot uint32) *group {
	g := c.named(id)
	if g == nil {
		g = c.newGroup(id)
	}
	c.room.push(&g.events, slot)
	c.events[slot].story = g.number
	return g
}
