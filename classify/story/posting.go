package story

import (
	"math/bits"
	"slices"
)

// postings say which events have a term that several have. A posting is how many they
// are, and their slots, sorted; of a crowd one bit for each slot there is, as nobody is
// found by such a term: to know of each event whether it has it takes less memory than
// a list, and less time to change.
type postings struct {
	room
	crowds [][]uint32
	spare  []uint32 // crowds that are none any more
}

const (
	crowdFrom = 2 * maxPosts // events that a crowd has at first; it has more than maxPosts always
	isCrowd   = 1 << 31      // where this is in how many events there are, the number of a crowd follows
)

// open returns a posting of two slots.
func (p *postings) open(a, b uint32) ref {
	at := p.take(3)
	copy(p.at(at), []uint32{2, a, b})
	return at
}

// close takes back a posting of one slot, and returns that.
func (p *postings) close(at ref) uint32 {
	only := p.at(at)[1]
	p.give(at, 2)
	return only
}

// have returns how many events a posting has.
func (p *postings) have(at ref) uint32 { return p.at(at)[0] &^ isCrowd }

// slots returns those of a posting that is no crowd, until it is changed.
func (p *postings) slots(at ref) []uint32 {
	posting := p.at(at)
	return posting[1 : 1+posting[0]]
}

// add adds the slot of an event, one of all slots there are, to a posting, and returns
// where that is now.
func (p *postings) add(at ref, slot uint32, all int) ref {
	posting := p.at(at)
	n := int(posting[0] &^ isCrowd)
	switch {
	case posting[0]&isCrowd != 0:
		posting[0]++
		p.set(posting[1], slot)
		return at
	case n == crowdFrom:
		at = p.crowd(at, all)
		return p.add(at, slot, all)
	}
	place := 1 + n
	if slot < posting[n] {
		place, _ = slices.BinarySearch(posting[1:1+n], slot)
		place++
	}
	now, to := at, posting
	if _, words := sizeOf(1 + n); 2+n > words {
		now = p.take(2 + n)
		to = p.at(now)
		copy(to, posting[:place])
	}
	copy(to[1+place:2+n], posting[place:1+n])
	to[place] = slot
	to[0] = uint32(n + 1)
	if now != at {
		p.give(at, 1+n)
	}
	return now
}

// crowd makes a crowd of a posting, and returns where that is now.
func (p *postings) crowd(at ref, all int) ref {
	var number uint32
	if n := len(p.spare); n > 0 {
		number, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		number = uint32(len(p.crowds))
		p.crowds = append(p.crowds, nil)
	}
	p.crowds[number] = make([]uint32, all/32+1)
	slots := p.slots(at)
	for _, slot := range slots {
		p.set(number, slot)
	}
	now := p.take(2)
	copy(p.at(now), []uint32{isCrowd | uint32(len(slots)), number})
	p.give(at, 1+len(slots))
	return now
}

// set sets the bit of a slot in a crowd, which may have come since the others.
func (p *postings) set(crowd, slot uint32) {
	bits := &p.crowds[crowd]
	if missing := int(slot/32) + 1 - len(*bits); missing > 0 {
		*bits = append(*bits, make([]uint32, missing)...)
	}
	(*bits)[slot/32] |= 1 << (slot % 32)
}

// remove removes the slot of an event from a posting, and returns where that is now.
func (p *postings) remove(at ref, slot uint32) ref {
	posting := p.at(at)
	posting[0]--
	if posting[0]&isCrowd != 0 {
		p.crowds[posting[1]][slot/32] &^= 1 << (slot % 32)
		if p.have(at) <= maxPosts {
			return p.disperse(at)
		}
		return at
	}
	n := int(posting[0])
	place, _ := slices.BinarySearch(posting[1:2+n], slot)
	copy(posting[1+place:1+n], posting[2+place:2+n])
	return p.shrink(at, 2+n, 1+n)
}

// shrink returns where a block of so many numbers is when it needs no more than now.
func (p *postings) shrink(at ref, was, now int) ref {
	before, _ := sizeOf(was)
	if after, _ := sizeOf(now); after == before {
		return at
	}
	numbers := p.at(at)[:now]
	smaller := p.take(now)
	copy(p.at(smaller), numbers)
	p.give(at, was)
	return smaller
}

// disperse makes a list of a crowd, and returns where that is now.
func (p *postings) disperse(at ref) ref {
	crowd, have := p.at(at)[1], p.have(at)
	now := p.take(1 + int(have))
	list := append(p.at(now)[:0], have)
	for i, set := range p.crowds[crowd] {
		for ; set != 0; set &= set - 1 {
			list = append(list, uint32(32*i+bits.TrailingZeros32(set)))
		}
	}
	p.crowds[crowd] = nil
	p.spare = append(p.spare, crowd)
	p.give(at, 2)
	return now
}
