package story

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Lists of a room grow, are set anew, and go, beside texts, until some are larger than
// a chunk: none may change another one.
func TestWhatIsInARoomStaysAsItIs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all room
	lists, wants := make([]list, 40), make([][]uint32, 40)
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
			wants[at] = numbers
		default:
			all.push(&lists[at], numbers...)
			wants[at] = append(wants[at], numbers...)
		}
		if i%5000 == 0 {
			numbers = make([]uint32, chunkWords+1+i)
			numbers[0], numbers[chunkWords] = uint32(i), 7
			all.set(&lists[0], numbers)
			wants[0] = numbers
		}
		word := string("a longer word than others"[:r.IntN(26)])
		text := all.write(word)
		if got := all.text(text); got != word {
			t.Fatalf("after %d: got text %q, want %q", i, got, word)
		}
		all.erase(text)
		if got := all.list(lists[at]); !slices.Equal(got, wants[at]) {
			t.Fatalf("after %d: list %d has %d numbers, want %d as they were given", i, at, len(got), len(wants[at]))
		}
	}
	for i, want := range wants {
		if got := all.list(lists[i]); !slices.Equal(got, want) {
			t.Errorf("list %d has %d numbers, want %d as they were given", i, len(got), len(want))
		}
	}
}

func TestRoomIsUsedAgain(t *testing.T) {
	var all room
	for i := range 100_000 {
		var l list
		all.set(&l, make([]uint32, 1+i%500))
		all.set(&l, nil)
	}
	if n := len(all.chunks); n > 1 {
		t.Errorf("got %d chunks where one list lived at a time, want 1", n)
	}
}

func TestSizesHoldWhatTheyAreFor(t *testing.T) {
	last := 0
	for n := 1; n < 1<<20; n++ {
		size, words := sizeOf(n)
		if words < n || words > n+n/8 || size < last || size > last+1 {
			t.Fatalf("%d numbers: got size %d of %d words after size %d", n, size, words, last)
		}
		if again, same := sizeOf(words); again != size || same != words {
			t.Fatalf("%d numbers: got %d words, of which the size is another one", n, words)
		}
		last = size
	}
}
