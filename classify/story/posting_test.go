package story

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Events come and go until there are many more than a crowd has, and until few are
// left; slots come late, too.
func TestAPostingKnowsWhoHasATerm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p := posting{slots: []uint32{3, 9}, have: 2}
	want := map[uint32]bool{3: true, 9: true}
	crowds, lists := 0, 0
	for i := range 60_000 {
		all := 500 + i/8
		slot, was := uint32(r.IntN(all)), p.crowd
		likely := 8 // of ten to come rather than go
		if i/20_000%2 == 1 {
			likely = 1
		}
		switch comes := r.IntN(10) < likely; {
		case comes && !want[slot]:
			p.add(slot, all)
			want[slot] = true
		case !comes && want[slot] && len(want) > 2:
			p.remove(slot)
			delete(want, slot)
		}
		if int(p.have) != len(want) || p.crowd && p.have <= maxPosts {
			t.Fatalf("after %d: got %d events (a crowd: %v), want %d", i, p.have, p.crowd, len(want))
		}
		if p.crowd == was && i%500 > 0 {
			continue
		}
		got := p.slots
		if p.crowd {
			got, crowds = p.list(), crowds+1
		} else {
			lists++
		}
		if len(got) != len(want) || !slices.IsSorted(got) || slices.ContainsFunc(got, func(s uint32) bool { return !want[s] }) {
			t.Fatalf("after %d: got %d slots, want those of %d events, sorted", i, len(got), len(want))
		}
	}
	if crowds < 10 || lists < 10 {
		t.Errorf("looked at %d crowds and %d lists, want both", crowds, lists)
	}
}
