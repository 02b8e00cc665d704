package story

import (
	"math/bits"
	"slices"
)

// A posting is which events have a term that several have: their slots, sorted; of a
// crowd one bit for each slot there is, as nobody is found by such a term: to know of
// each event whether it has it takes less memory than a list, and less time to change.
type posting struct {
	slots []uint32
	have  uint32 // events
	crowd bool
}

// crowdFrom is how many events a crowd has at first. It has more than maxPosts always.
const crowdFrom = 2 * maxPosts

// add adds the slot of an event, one of all slots there are.
func (p *posting) add(slot uint32, all int) {
	p.have++
	if p.crowd {
		p.set(slot)
		return
	}
	at := len(p.slots)
	if slot < p.slots[at-1] {
		at, _ = slices.BinarySearch(p.slots, slot)
	}
	p.slots = slices.Insert(p.slots, at, slot)
	if p.have > crowdFrom {
		list := p.slots
		p.slots, p.crowd = make([]uint32, all/32+1), true
		for _, slot := range list {
			p.set(slot)
		}
	}
}

// set sets the bit of a slot, which may have come since the others.
func (p *posting) set(slot uint32) {
	if missing := int(slot/32) + 1 - len(p.slots); missing > 0 {
		p.slots = append(p.slots, make([]uint32, missing)...)
	}
	p.slots[slot/32] |= 1 << (slot % 32)
}

// remove removes the slot of an event.
func (p *posting) remove(slot uint32) {
	p.have--
	if p.crowd {
		p.slots[slot/32] &^= 1 << (slot % 32)
		if p.have <= maxPosts {
			p.slots, p.crowd = p.list(), false
		}
		return
	}
	at, _ := slices.BinarySearch(p.slots, slot)
	p.slots = slices.Delete(p.slots, at, at+1)
	if len(p.slots) > 16 && 4*len(p.slots) < cap(p.slots) {
		p.slots = slices.Clone(p.slots)
	}
}

// list returns the slots of a crowd.
func (p *posting) list() []uint32 {
	list := make([]uint32, 0, p.have)
	for i, set := range p.slots {
		for ; set != 0; set &= set - 1 {
			list = append(list, uint32(32*i+bits.TrailingZeros32(set)))
		}
	}
	return list
}
