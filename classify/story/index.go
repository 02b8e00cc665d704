package story

import (
	"cmp"
	"math"
	"slices"
)

// An index finds the events that a vector may belong to, and knows how many
// events have a term.
type index struct {
	terms  map[uint64]uint32 // by hash
	infos  []info            // by term
	have   []int32           // by term: events whose centroid has it; apart from infos, for it is read most
	kinds  []kind            // by term
	free   []uint32          // terms that nothing has any more
	logs   []float64         // natural logarithms of 0, 1, 2, ...
	prior  int
	events int      // live ones
	gens   []uint32 // by slot of an event: how often one came or went; odd while one is there

	kept        []uint32 // by slot: the compaction that kept a posting of it last
	compactions uint32

	score []float32 // by slot, while candidates are looked for
	found []uint32  // slots whose score is not 0
}

// info is what is known of a term.
type info struct {
	hash  uint64
	posts []posting // these, and others that have it no more
	room  int       // postings above which they are looked through
}

// A posting is an event that had a term when it was noted.
type posting struct{ slot, gen uint32 }

func newIndex(prior int) index {
	return index{terms: make(map[uint64]uint32), logs: []float64{0}, prior: prior}
}

// log returns the natural logarithm of n.
func (x *index) log(n int) float64 {
	for len(x.logs) <= n {
		x.logs = append(x.logs, math.Log(float64(len(x.logs))))
	}
	return x.logs[n]
}

// idf returns how much a term says in general: less the more events have it, so
// that, other than by items, the words of a hot event count in full.
func (x *index) idf(t uint32) float64 {
	return x.log(x.events+x.prior) - x.log(int(x.have[t])+1)
}

// term returns the term of a hash, which it may have to make.
func (x *index) term(hash uint64, k kind) uint32 {
	if t, ok := x.terms[hash]; ok {
		return t
	}
	var t uint32
	if n := len(x.free); n > 0 {
		t, x.free = x.free[n-1], x.free[:n-1]
	} else {
		t = uint32(len(x.infos))
		x.infos, x.have, x.kinds = append(x.infos, info{}), append(x.have, 0), append(x.kinds, k)
	}
	x.infos[t], x.kinds[t] = info{hash: hash}, k
	x.terms[hash] = t
	return t
}

// change says that the event in slot has now in place of was.
func (x *index) change(slot uint32, was, now vector) {
	i, j := 0, 0
	for i < len(was) || j < len(now) {
		switch {
		case j == len(now) || i < len(was) && was[i].term < now[j].term:
			x.drop(was[i].term)
			i++
		case i == len(was) || was[i].term > now[j].term:
			in := &x.infos[now[j].term]
			x.have[now[j].term]++
			in.posts = append(in.posts, posting{slot, x.gens[slot]})
			if len(in.posts) > in.room {
				x.compact(in)
			}
			j++
		default:
			i++
			j++
		}
	}
}

// drop says that an event has a term no more. Its posting stays until it is
// in the way.
func (x *index) drop(t uint32) {
	if x.have[t]--; x.have[t] == 0 {
		x.release(t)
	}
}

// forget frees the terms of a vector that no event has.
func (x *index) forget(v vector) {
	for _, e := range v {
		if x.have[e.term] == 0 && x.infos[e.term].hash != 0 {
			x.release(e.term)
		}
	}
}

func (x *index) release(t uint32) {
	delete(x.terms, x.infos[t].hash)
	x.infos[t] = info{}
	x.free = append(x.free, t)
}

const (
	maxPosts      = 2500 // postings that are looked at for one vector
	maxCandidates = 16   // events that are compared with it term by term
	maxAsked      = 32   // terms by which they are found
	commonEvents  = 200  // a term in fewer events is never too common
)

// candidates returns the slots of the events that share most with v, best first,
// at most maxCandidates. Terms in more than 5 % of all events find none. The
// result holds until the next call.
func (x *index) candidates(v vector) []uint32 {
	var asked []heavy
	for _, e := range v {
		have := int(x.have[e.term])
		if have == 0 || have > commonEvents && have*20 > x.events {
			continue
		}
		idf := x.idf(e.term)
		asked = append(asked, heavy{float64(e.weight) * idf * idf, e})
	}
	slices.SortFunc(asked, heavier)
	room := maxPosts
	for _, a := range asked[:min(len(asked), maxAsked)] {
		if n := len(x.infos[a.term].posts); n <= room {
			room -= n
			x.scan(a.term, float32(a.weight))
		}
	}
	best := slices.DeleteFunc(x.found, func(slot uint32) bool {
		gone := x.gens[slot]%2 == 0
		if gone {
			x.score[slot] = 0
		}
		return gone
	})
	x.found = best
	if len(best) > maxCandidates {
		best = x.best()
	} else {
		slices.SortFunc(best, x.better)
	}
	list := slices.Clone(best)
	for _, slot := range x.found {
		x.score[slot] = 0
	}
	x.found = x.found[:0]
	return list
}

func (x *index) better(a, b uint32) int {
	return cmp.Or(cmp.Compare(x.score[b], x.score[a]), cmp.Compare(a, b))
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

// scan adds weight to the score of all events that have a term, and of some that
// are where one was that had it: to look is dearer than to compare a few more.
func (x *index) scan(t uint32, weight float32) {
	for _, p := range x.infos[t].posts {
		if x.score[p.slot] == 0 {
			x.found = append(x.found, p.slot)
		}
		x.score[p.slot] += weight
	}
}

// compact forgets the postings of events that are gone, and repeated ones.
func (x *index) compact(in *info) {
	x.compactions++
	live := in.posts[:0]
	for _, p := range in.posts {
		if x.gens[p.slot] == p.gen && x.kept[p.slot] != x.compactions {
			x.kept[p.slot] = x.compactions
			live = append(live, p)
		}
	}
	in.posts, in.room = live, 2*len(live)+8
}
