package story

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Lists of an arena grow, are replaced and removed beside texts, until some are larger than a chunk. No list
// may change another.
func TestArena_ListsDoNotOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all arena
	lists, wantLists := make([]list, 40), make([][]uint32, 40)
	for i := range 20_000 {
		at := r.IntN(len(lists))
		numbers := make([]uint32, 1+r.IntN(1<<r.IntN(9)))
		for n := range numbers {
			numbers[n] = r.Uint32()
		}
		switch r.IntN(40) {
		case 0, 1, 2:
			numbers = nil
			fallthrough
		case 3:
			all.set(&lists[at], numbers)
			wantLists[at] = numbers
		default:
			all.push(&lists[at], numbers...)
			wantLists[at] = append(wantLists[at], numbers...)
		}
		if i%5000 == 0 {
			numbers = make([]uint32, chunkWords+1+i)
			numbers[0], numbers[chunkWords] = uint32(i), 7
			all.set(&lists[0], numbers)
			wantLists[0] = numbers
		}
		word := string("a longer word than others"[:r.IntN(26)])
		text := all.write(word)
		if got := all.text(text); got != word {
			t.Fatalf("after %d: got text %q, want %q", i, got, word)
		}
		all.erase(text)
		if got := all.list(lists[at]); !slices.Equal(got, wantLists[at]) {
			t.Fatalf("after %d: list %d has %d numbers, want %d as added", i, at, len(got), len(wantLists[at]))
		}
	}
	for i, want := range wantLists {
		if got := all.list(lists[i]); !slices.Equal(got, want) {
			t.Errorf("list %d has %d numbers, want %d as added", i, len(got), len(want))
		}
	}
}

func TestArena_ReusesFreedBlocks(t *testing.T) {
	var all arena
	for i := range 100_000 {
		var l list
		all.set(&l, make([]uint32, 1+i%500))
		all.set(&l, nil)
	}
	if n := len(all.chunks); n > 1 {
		t.Errorf("got %d chunks for one list at a time, want 1", n)
	}
}

func TestArena_SizeClassesAreLargeEnough(t *testing.T) {
	last := 0
	for n := 1; n < 1<<20; n++ {
		size, words := sizeOf(n)
		if words < n || words > n+n/8 || size < last || size > last+1 {
			t.Fatalf("%d numbers: got size %d of %d words after size %d", n, size, words, last)
		}
		if repeated, same := sizeOf(words); repeated != size || same != words {
			t.Fatalf("%d numbers: got %d words, whose size differs", n, words)
		}
		last = size
	}
}
