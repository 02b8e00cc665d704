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
	if m, ok := c.member(item.DuplicateOf); ok && c.distance(&c.events[m.slot], item.Seen.UnixMicro()) <= c.limits.Reach {
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

// nearest returns the slot of the event that an item joins, or none: of the events whose log odds reach their
// threshold, the one that exceeds it most.
func (c *Clusters) nearest(features *Features, item Item) (uint32, Reason) {
	best, bestOdds, bestThreshold, bestCosine := none, 0.0, 0.0, 0.0
	q := &c.query
	c.index.queryVector(q, features.vector)
	for _, slot := range c.index.candidates(q) {
		e := &c.events[slot]
		model, o := c.joinModel(e, item), q.overlap(c.index.vector(slot))
		threshold := c.tighten(e.votes) + c.faded(e, e.votes, item.Seen.UnixMicro(), maxEventAge)
		if c.atMost(q, &o, slot, model) < threshold {
			continue
		}
		square := c.index.square(c.index.vector(slot))
		evidence := c.index.evidence(q, &o, &square)
		log := evidence.times(model)
		if log >= threshold && (best == none || log-threshold > bestOdds-bestThreshold) {
			best, bestOdds, bestThreshold, bestCosine = slot, log, threshold, evidence[AllTerms]
		}
	}
	if best == none {
		return none, Reason{}
	}
	return best, Reason{By: "near", Score: odds(bestOdds), Threshold: odds(bestThreshold), Cosine: bestCosine, Shared: c.shared(item, features, c.index.vector(best))}
}

// joinModel returns the model for an item and an event: by title alone, or if both have texts.
func (c *Clusters) joinModel(e *event, item Item) *Evidence {
	if item.Text != "" && 2*e.texts > e.votes {
		return &c.weights.JoinTexts
	}
	return &c.weights.JoinTitles
}

const (
	// squareValidity is the number of items for which the cached square of an event's vector is valid, in
	// addition to a quarter of the number of events: idf changes slowly, and more slowly with more events.
	squareValidity = 2000
	cosineSlack    = 1.5 // bound on the change of a cosine in that time
)

// atMost returns a bound of the log odds of a query and an event, from the event's cached square. The exact square
// reads all terms, and few candidates come near.
func (c *Clusters) atMost(q *query, o *overlap, slot uint32, model *Evidence) float64 {
	e := &c.events[slot]
	if e.squared == 0 || c.total-e.squared > squareValidity+c.index.events/4 {
		e.square, e.squared = c.index.square(c.index.vector(slot)), c.total
	}
	evidence := c.index.evidence(q, o, &e.square)
	for _, clue := range []Clue{AllTerms, WordTerms, PairTerms, NumberTerms, NameTerms} {
		if model[clue] > 0 {
			evidence[clue] = min(1, cosineSlack*evidence[clue])
		}
	}
	return evidence.times(model)
}

// A Candidate is an event that an item may join.
type Candidate struct {
	EventID  string
	Evidence Evidence
	Texts    bool // item and event have texts
}

// Candidates returns the events that an item may join, except those of which the cosine is too low. It is for training;
// nothing changes.
func (c *Clusters) Candidates(item Item) (list []Candidate) {
	q := &c.query
	c.index.queryVector(q, c.featuresOf(item).vector)
	for _, slot := range c.index.candidates(q) {
		if evidence := c.index.compare(q, c.index.vector(slot)); evidence[AllTerms] >= leastCosine {
			list = append(list, Candidate{c.idOf(slot), evidence, c.joinModel(&c.events[slot], item) == &c.weights.JoinTexts})
		}
	}
	return list
}

// tighten returns the log odds that an item needs in addition to join a large event, which keeps events from growing
// into each other.
func (c *Clusters) tighten(votes uint32) float64 {
	if votes <= 8 {
		return 0
	}
	return c.weights.Tighten * math.Log2(float64(votes)/8)
}

const (
	// maxEventAge and maxMergeAge are the times between the beginnings of an event and an item, and of two events, from
	// which they need more evidence.
	maxEventAge = 22 * time.Hour
	maxMergeAge = 10 * time.Hour

	// An event has ended if its next item takes several times as long as the ones before.
	endedAfter = 8 // mean intervals of its items
	shortPause = 4 * time.Hour
	longPause  = 72 * time.Hour // and of events of one item

	ended    = 3.0 // log odds when a pause is so long
	agedADay = 9.0 // log odds per day above the age, of events with agedVotes
	maxDays  = 3.0
	agedSize = 16 // votes of an event that loses relevance at the full rate; slow, small events lose less
)

// distance returns how long before the first or after the last item of an event a time is; 0 if it is between them.
func (c *Clusters) distance(e *event, at int64) time.Duration {
	return time.Duration(max(0, at-e.last, e.first-at)) * time.Microsecond
}

// faded returns the log odds that are needed in addition because an event is old, infinite beyond the limit: an item
// reports events of its own time. An event of many publishers ends within a day or two, an event of few may go on for
// the whole window. votes are those of all events concerned, and age is the time since its beginning from which the
// event is old.
func (c *Clusters) faded(e *event, votes uint32, at int64, age time.Duration) float64 {
	pause := longPause
	if e.items > 1 {
		interval := time.Duration(e.last-e.first) * time.Microsecond / time.Duration(e.items-1)
		pause = min(max(endedAfter*interval, shortPause), longPause)
	}
	since := c.distance(e, at)
	if since > c.limits.Reach {
		return math.Inf(1)
	}
	days := (time.Duration(max(at-e.first, e.last-at))*time.Microsecond - age).Hours() / 24
	days = min(max(days, 0), maxDays)
	return float64(ended*min(1, float64(since)/float64(pause))) + float64(agedADay*days*min(1, float64(votes)/agedSize))
}

// shared returns the heaviest words that an item and an event share.
func (c *Clusters) shared(item Item, features *Features, v packed) []string {
	var list []weightedWord
	for i, e := range features.vector {
		if word := features.spots[i].of(item); word != "" && v.has(e.term) {
			list = append(list, weightedWord{float64(e.weight) * c.index.idf(e.term, c.index.have(e.term)), word})
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
