package story

import (
	"math/bits"
	"slices"
)

// postings map terms of several events to these events. A posting contains a count and the sorted slots. A
// very common term, a crowd, is a bitmap with one bit per slot: candidates are never found by it, and the
// bitmap takes less memory and changes faster than a list.
type postings struct {
	arena
	crowds [][]uint32
	spare  []uint32 // free crowd numbers
}

const (
	crowdFrom = 2 * maxPosts // events at which a list becomes a crowd; a crowd always has more than maxPosts
	isCrowd   = 1 << 31      // flag in the count; the number of the crowd follows
)

// open returns a posting of two slots.
func (p *postings) open(a, b uint32) ref {
	at := p.take(3)
	copy(p.at(at), []uint32{2, a, b})
	return at
}

// close frees a posting of one slot, and returns that slot.
func (p *postings) close(at ref) uint32 {
	only := p.at(at)[1]
	p.give(at, 2)
	return only
}

// have returns the number of events of a posting.
func (p *postings) have(at ref) uint32 { return p.at(at)[0] &^ isCrowd }

// slots returns the slots of a list. The slice is valid until it changes.
func (p *postings) slots(at ref) []uint32 {
	posting := p.at(at)
	return posting[1 : 1+posting[0]]
}

// add adds a slot, one of all slots, to a posting, and returns the posting's new location.
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

// crowd converts a list to a crowd, and returns its new location.
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

// set sets the bit of a slot in a crowd, and grows the bitmap if needed.
func (p *postings) set(crowd, slot uint32) {
	bits := &p.crowds[crowd]
	if missing := int(slot/32) + 1 - len(*bits); missing > 0 {
		*bits = append(*bits, make([]uint32, missing)...)
	}
	(*bits)[slot/32] |= 1 << (slot % 32)
}

// remove removes a slot from a posting, and returns the posting's new location.
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

// shrink moves a block from was to now words if that is a smaller size class, and returns its location.
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

// disperse converts a crowd to a list, and returns its new location.
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
