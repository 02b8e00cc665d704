package story

import (
	"cmp"
	"math"
	"slices"
)

// An index contains the vectors of events, finds candidates for a vector, and counts the events per term.
type index struct {
	terms
	vectors []ref    // by slot of an event: the sum of one unit vector per vote
	arena   arena    // of the vectors
	born    []uint32 // by slot: number of events opened before
	posts   postings // events per term, for terms of several events
	logs    []float64
	prior   int        // virtual events
	common  background // terms of the virtual events
	events  int        // events in the window

	score []float32 // by slot, during a candidate search
	found []uint32  // slots whose score is not 0
	order []uint64
	was   vector   // buffer for the vector before a change
	more  vector   // buffer for the added vector
	sum   vector   // buffer for the sum
	fresh []uint32 // terms of the new vector
	pack  packed
	rows  []row // buffer for the rows of a vector
	haves []uint32

	stale   bool   // terms and postings must be rebuilt from the vectors
	touched uint32 // a sink that keeps the compiler from removing reads
}

func newIndex(w *Weights) index {
	return index{logs: []float64{0}, prior: w.Prior, common: w.Common.background(w.Prior)}
}

// addSlot extends the index by one event.
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

// have returns the number of events with a term.
func (x *index) have(t uint32) uint32 {
	if r := x.find(t); r != nil {
		return x.count(*r)
	}
	return 0
}

// count returns the number of events with the term of a row, 0 for a free row.
func (x *index) count(r row) uint32 {
	switch {
	case r.term == 0:
		return 0
	case r.at < several:
		return 1
	}
	return x.posts.have(ref(r.at - several))
}

// idf returns the weight of a term that have events contain: the fewer, the higher. It counts events and not
// items, so the words of a hot event keep their full weight.
func (x *index) idf(term, have uint32) float64 {
	return max(0, x.log(x.events+x.prior)-x.log(int(have)+x.common.count(term)+1))
}

// vector returns the vector of the event in a slot. It is valid until the event changes.
func (x *index) vector(slot uint32) packed {
	at := x.vectors[slot]
	if at == 0 {
		return nil
	}
	p := packed(x.arena.at(at))
	return p[:p.size()]
}

// change replaces the vector of the event in slot.
func (x *index) change(slot uint32, now vector) {
	if !x.stale {
		x.repost(slot, x.vector(slot).terms(), now)
	}
	if was := x.vector(slot); was != nil {
		x.arena.give(x.vectors[slot], was.size())
		x.vectors[slot] = 0
	}
	if len(now) > 0 {
		x.pack = x.pack.of(now)
		x.vectors[slot] = x.arena.take(len(x.pack))
		copy(x.arena.at(x.vectors[slot]), x.pack)
	}
}

// repost updates the postings of an event from its old to its new terms.
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

// plus returns the heaviest terms of the sum of two vectors, in newly allocated memory.
func (x *index) plus(a, b packed) packed {
	x.was, x.more = a.unpack(x.was), b.unpack(x.more)
	x.sum = x.sum.plus(x.was, x.more, 1)
	return packed(nil).of(x.sum.heaviest(maxTerms))
}

// build rebuilds the postings in one batch, which is several times cheaper than item by item.
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

// post adds an event to the posting of a term.
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

// drop removes an event from the posting of a term.
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
	maxPosts      = 1500 // postings scanned for one vector
	maxCandidates = 8    // events compared term by term; twice as many change nothing
	maxQueryTerms = 32   // query terms used to find candidates
	commonEvents  = 200  // a term in fewer events is never too common
)

// candidates returns the slots of the events that share most with a query, best first, at most maxCandidates.
// Terms in more than 5 % of all events are skipped.
func (x *index) candidates(q *query) []uint32 {
	// Weight and index in one number sort by weight; of equal weights the first index is last.
	order := x.order[:0]
	for i, own := range q.weights {
		have := int(q.have[i])
		if have == 0 || have > commonEvents && have*20 > x.events {
			continue
		}
		weight := float32(float64(own) * q.idf[i])
		order = append(order, uint64(math.Float32bits(weight))<<32|uint64(math.MaxUint32-i))
	}
	x.order = order
	slices.Sort(order)
	budget := maxPosts
	for _, a := range slices.Backward(order[max(0, len(order)-maxQueryTerms):]) {
		x.scan(q.rows[math.MaxUint32-uint32(a)], math.Float32frombits(uint32(a>>32)), &budget)
	}
	best := x.best()
	for _, slot := range x.found {
		x.score[slot] = 0
	}
	x.found = x.found[:0]
	return best
}

// scan adds weight to the score of all events with a term. It does nothing if they exceed the remaining
// budget.
func (x *index) scan(r row, weight float32, budget *int) {
	slots := []uint32{r.at}
	if r.at >= several {
		p := ref(r.at - several)
		if int(x.posts.have(p)) > *budget {
			return
		}
		slots = x.posts.slots(p)
	}
	*budget -= len(slots)
	for _, slot := range slots {
		if x.score[slot] == 0 {
			x.found = append(x.found, slot)
		}
		x.score[slot] += weight
	}
}

// better compares by score; of equal scores the newest event is better. Slots cannot break ties: a rebuild
// changes them.
func (x *index) better(a, b uint32) int {
	return cmp.Or(cmp.Compare(x.score[b], x.score[a]), cmp.Compare(x.born[b], x.born[a]))
}

// best returns the best candidates, in order.
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
