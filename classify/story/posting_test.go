package story

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Events are added until the posting is much larger than a crowd, and removed until few are left; slots are
// also added late. Another posting changes beside it.
func TestPostings_ContainTheAddedSlots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all postings
	p, other := all.open(3, 9), all.open(5, 6)
	want := map[uint32]bool{3: true, 9: true}
	crowds, lists := 0, 0
	for i := range 60_000 {
		slots := 500 + i/8
		slot, was := uint32(r.IntN(slots)), all.at(p)[0]&isCrowd != 0
		likely := 8 // of ten to come rather than go
		if i/20_000%2 == 1 {
			likely = 1
		}
		switch comes := r.IntN(10) < likely; {
		case comes && !want[slot]:
			p = all.add(p, slot, slots)
			want[slot] = true
		case !comes && want[slot] && len(want) > 2:
			p = all.remove(p, slot)
			delete(want, slot)
		}
		if i%100 < 50 {
			other = all.add(other, uint32(100+i%100), slots)
		} else {
			other = all.remove(other, uint32(50+i%100))
		}
		crowd := all.at(p)[0]&isCrowd != 0
		if have := all.have(p); int(have) != len(want) || crowd && have <= maxPosts {
			t.Fatalf("after %d: got %d events (a crowd: %v), want %d", i, have, crowd, len(want))
		}
		if crowd == was && i%500 > 0 {
			continue
		}
		got := slotsOf(&all, p)
		if crowd {
			crowds++
		} else {
			lists++
		}
		if len(got) != len(want) || !slices.IsSorted(got) || slices.ContainsFunc(got, func(s uint32) bool { return !want[s] }) {
			t.Fatalf("after %d: got %d slots, want those of %d events, sorted", i, len(got), len(want))
		}
	}
	if got := all.slots(other); !slices.Equal(got, []uint32{5, 6}) {
		t.Errorf("other list: got %v, want it unchanged", got)
	}
	if crowds < 10 || lists < 10 {
		t.Errorf("looked at %d crowds and %d lists, want both", crowds, lists)
	}
}

// slotsOf returns the slots of a posting, whether it is a crowd or not.
func slotsOf(p *postings, at ref) (list []uint32) {
	posting := p.at(at)
	if posting[0]&isCrowd == 0 {
		return p.slots(at)
	}
	for i, set := range p.crowds[posting[1]] {
		for bit := range uint32(32) {
			if set>>bit&1 == 1 {
				list = append(list, uint32(32*i)+bit)
			}
		}
	}
	return list
}
