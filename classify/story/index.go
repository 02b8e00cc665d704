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
	vectors []vector   // by slot of an event: the sum of one vector of length 1 for each vote
	born    []uint32   // by slot: how many events came before it
	lists   [][]uint32 // slots of the events that have a term, sorted, where there are several; the first is none
	spare   []uint32   // lists that nothing uses
	logs    []float64
	prior   int
	events  int // live ones

	score []float32 // by slot, while candidates are looked for
	found []uint32  // slots whose score is not 0
	asked []uint64
	sum   vector // room for one that is being made

	stale   bool   // terms and lists are not of these vectors
	touched uint32 // so that no compiler thinks that nothing is read
}

func newIndex(prior int) index {
	return index{lists: make([][]uint32, 1), logs: []float64{0}, prior: prior}
}

// addSlot makes room for one more event.
func (x *index) addSlot() {
	x.vectors, x.born, x.score = append(x.vectors, nil), append(x.born, 0), append(x.score, 0)
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
		return r.have
	}
	return 0
}

// idf returns how much a term says in general that so many events have: less the
// more they are, so that, other than by items, the words of a hot event count in
// full.
func (x *index) idf(have uint32) float64 {
	return x.log(x.events+x.prior) - x.log(int(have)+1)
}

// change gives the event in slot a vector in place of the one it has.
func (x *index) change(slot uint32, now vector) {
	was := x.vectors[slot]
	x.vectors[slot] = now
	if x.stale {
		return
	}
	x.touched += x.touch(was) + x.touch(now)
	i, j := 0, 0
	for i < len(was) || j < len(now) {
		switch {
		case j == len(now) || i < len(was) && was[i].term < now[j].term:
			x.drop(was[i].term, slot)
			i++
		case i == len(was) || was[i].term > now[j].term:
			x.post(now[j].term, slot)
			j++
		default:
			i++
			j++
		}
	}
}

// build finds anew which events have which terms, all at once: to do it item by item
// costs several times as much.
func (x *index) build() {
	x.terms, x.lists, x.spare, x.stale = terms{}, make([][]uint32, 1), nil, false
	for slot, v := range x.vectors {
		x.touched += x.touch(v)
		for _, e := range v {
			x.post(e.term, uint32(slot))
		}
	}
}

// post says that an event has a term.
func (x *index) post(t, slot uint32) {
	r := x.add(t)
	switch r.have++; {
	case r.have == 1:
		r.only = slot
	case r.list == 0:
		r.list = x.newList()
		x.lists[r.list] = []uint32{min(r.only, slot), max(r.only, slot)}
	default:
		list := x.lists[r.list]
		at := len(list)
		if slot < list[at-1] {
			at, _ = slices.BinarySearch(list, slot)
		}
		x.lists[r.list] = slices.Insert(list, at, slot)
	}
}

func (x *index) newList() uint32 {
	n := len(x.spare)
	if n == 0 {
		x.lists = append(x.lists, nil)
		return uint32(len(x.lists) - 1)
	}
	at := x.spare[n-1]
	x.spare = x.spare[:n-1]
	return at
}

// drop says that an event has a term no more.
func (x *index) drop(t, slot uint32) {
	r := x.find(t)
	if r.have--; r.have == 0 {
		x.remove(t)
		return
	}
	list := x.lists[r.list]
	at, _ := slices.BinarySearch(list, slot)
	list = slices.Delete(list, at, at+1)
	x.lists[r.list] = list
	switch {
	case len(list) == 1:
		r.only = list[0]
		x.lists[r.list] = nil
		x.spare = append(x.spare, r.list)
		r.list = 0
	case len(list) > 16 && 4*len(list) < cap(list):
		x.lists[r.list] = slices.Clone(list)
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
	for i, e := range q.vector {
		have := int(q.rows[i].have)
		if have == 0 || have > commonEvents && have*20 > x.events {
			continue
		}
		weight := float32(float64(e.weight) * q.idf[i])
		asked = append(asked, uint64(math.Float32bits(weight))<<32|uint64(math.MaxUint32-i))
	}
	x.asked = asked
	slices.Sort(asked)
	room := maxPosts
	for _, a := range slices.Backward(asked[max(0, len(asked)-maxAsked):]) {
		x.scan(&q.rows[math.MaxUint32-uint32(a)], math.Float32frombits(uint32(a>>32)), &room)
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
func (x *index) scan(r *row, weight float32, room *int) {
	slots := x.lists[r.list]
	if r.list == 0 {
		slots = []uint32{r.only}
	}
	if len(slots) > *room {
		return
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
