package story

import (
	"cmp"
	"math"
	"slices"
)

// An index has the vectors of events, finds those that a vector may belong to, and
// knows how many events have a term.
type index struct {
	terms
	vectors []ref    // by slot of an event: the sum of one vector of length 1 for each vote
	room    room     // of the vectors
	born    []uint32 // by slot: how many events came before it
	posts   postings // which events have a term, where there are several
	logs    []float64
	prior   int
	events  int // live ones

	score []float32 // by slot, while candidates are looked for
	found []uint32  // slots whose score is not 0
	asked []uint64
	was   vector   // room for one that changes
	more  vector   // for what comes to it
	sum   vector   // and for what it becomes
	fresh []uint32 // its terms
	pack  packed
	rows  []row // room for those of a vector
	haves []uint32

	stale   bool   // terms and lists are not of these vectors
	touched uint32 // so that no compiler thinks that nothing is read
}

func newIndex(prior int) index {
	return index{logs: []float64{0}, prior: prior}
}

// addSlot makes room for one more event.
func (x *index) addSlot() {
	x.vectors, x.born, x.score = append(x.vectors, 0), append(x.born, 0), append(x.score, 0)
}

// log returns the natural logarithm of n.
func (x *index) log(n int) float64 {
	for len(x.logs) <= n {
		x.logs = append(x.logs, math.Log(float64(len(x.logs))))
	}
	return x.logs[n]
}

// have returns how many events have a term.
func (x *index) have(t uint32) uint32 {
	if r := x.find(t); r != nil {
		return x.count(*r)
	}
	return 0
}

// count returns how many events have the term of a row: none, if that is free.
func (x *index) count(r row) uint32 {
	switch {
	case r.term == 0:
		return 0
	case r.at < several:
		return 1
	}
	return x.posts.have(ref(r.at - several))
}

// idf returns how much a term says in general that so many events have: less the
// more they are, so that, other than by items, the words of a hot event count in
// full.
func (x *index) idf(have uint32) float64 {
	return x.log(x.events+x.prior) - x.log(int(have)+1)
}

// vector returns that of the event in a slot, until it is changed.
func (x *index) vector(slot uint32) packed {
	at := x.vectors[slot]
	if at == 0 {
		return nil
	}
	p := packed(x.room.at(at))
	return p[:p.size()]
}

// change gives the event in slot a vector in place of the one it has.
func (x *index) change(slot uint32, now vector) {
	if !x.stale {
		x.repost(slot, x.vector(slot).terms(), now)
	}
	if was := x.vector(slot); was != nil {
		x.room.give(x.vectors[slot], was.size())
		x.vectors[slot] = 0
	}
	if len(now) > 0 {
		x.pack = x.pack.of(now)
		x.vectors[slot] = x.room.take(len(x.pack))
		copy(x.room.at(x.vectors[slot]), x.pack)
	}
}

// repost says which terms an event has now in place of those that it had.
func (x *index) repost(slot uint32, was []uint32, now vector) {
	x.fresh = x.fresh[:0]
	for _, e := range now {
		x.fresh = append(x.fresh, e.term)
	}
	x.touched += x.touch(was) + x.touch(x.fresh)
	i, j := 0, 0
	for i < len(was) || j < len(now) {
		switch {
		case j == len(now) || i < len(was) && was[i] < x.fresh[j]:
			x.drop(was[i], slot)
			i++
		case i == len(was) || was[i] > x.fresh[j]:
			x.post(x.fresh[j], slot)
			j++
		default:
			i++
			j++
		}
	}
}

// plus returns what the sum of two vectors has of most weight, in a vector of its own.
func (x *index) plus(a, b packed) packed {
	x.was, x.more = a.unpack(x.was), b.unpack(x.more)
	x.sum = x.sum.plus(x.was, x.more, 1)
	return packed(nil).of(x.sum.heaviest(maxTerms))
}

// build finds anew which events have which terms, all at once: to do it item by item
// costs several times as much.
func (x *index) build() {
	x.terms, x.posts, x.stale = terms{}, postings{}, false
	for slot := range uint32(len(x.vectors)) {
		terms := x.vector(slot).terms()
		x.touched += x.touch(terms)
		for _, term := range terms {
			x.post(term, slot)
		}
	}
}

// post says that an event has a term.
func (x *index) post(t, slot uint32) {
	r := x.find(t)
	switch {
	case r == nil:
		x.add(t, slot)
	case r.at < several:
		r.at = several + uint32(x.posts.open(min(r.at, slot), max(r.at, slot)))
	default:
		r.at = several + uint32(x.posts.add(ref(r.at-several), slot, len(x.vectors)))
	}
}

// drop says that an event has a term no more.
func (x *index) drop(t, slot uint32) {
	r := x.find(t)
	if r.at < several {
		x.remove(t)
		return
	}
	p := x.posts.remove(ref(r.at-several), slot)
	if r.at = several + uint32(p); x.posts.have(p) == 1 {
		r.at = x.posts.close(p)
	}
}

const (
	maxPosts      = 1500 // postings that are looked at for one vector
	maxCandidates = 8    // events that are compared with it term by term; twice as many change nothing
	maxAsked      = 32   // terms by which they are found
	commonEvents  = 200  // a term in fewer events is never too common
)

// candidates returns the slots of the events that share most with what is asked
// for, best first, at most maxCandidates. Terms in more than 5 % of all events find
// none.
func (x *index) candidates(q *query) []uint32 {
	// Weight and place in one number sort by weight; of equal ones the first is last.
	asked := x.asked[:0]
	for i, own := range q.weights {
		have := int(q.have[i])
		if have == 0 || have > commonEvents && have*20 > x.events {
			continue
		}
		weight := float32(float64(own) * q.idf[i])
		asked = append(asked, uint64(math.Float32bits(weight))<<32|uint64(math.MaxUint32-i))
	}
	x.asked = asked
	slices.Sort(asked)
	room := maxPosts
	for _, a := range slices.Backward(asked[max(0, len(asked)-maxAsked):]) {
		x.scan(q.rows[math.MaxUint32-uint32(a)], math.Float32frombits(uint32(a>>32)), &room)
	}
	best := x.best()
	for _, slot := range x.found {
		x.score[slot] = 0
	}
	x.found = x.found[:0]
	return best
}

// scan adds weight to the score of all events that have a term. It does nothing if
// there are more than there is room for.
func (x *index) scan(r row, weight float32, room *int) {
	slots := []uint32{r.at}
	if r.at >= several {
		p := ref(r.at - several)
		if int(x.posts.have(p)) > *room {
			return
		}
		slots = x.posts.slots(p)
	}
	*room -= len(slots)
	for _, slot := range slots {
		if x.score[slot] == 0 {
			x.found = append(x.found, slot)
		}
		x.score[slot] += weight
	}
}

// better compares by score; of equal ones the event that began last is better. Slots
// say nothing: after a rebuild they are others.
func (x *index) better(a, b uint32) int {
	return cmp.Or(cmp.Compare(x.score[b], x.score[a]), cmp.Compare(x.born[b], x.born[a]))
}

// best returns the best of what was found, in order.
func (x *index) best() []uint32 {
	top := make([]uint32, 0, maxCandidates+1)
	for _, slot := range x.found {
		if len(top) == maxCandidates {
			if last := top[maxCandidates-1]; x.score[slot] < x.score[last] || x.better(last, slot) < 0 {
				continue
			}
		}
		at, _ := slices.BinarySearchFunc(top, slot, x.better)
		top = slices.Insert(top, at, slot)
		top = top[:min(len(top), maxCandidates)]
	}
	return top
}
