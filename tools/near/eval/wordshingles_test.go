package eval

import (
	"math"
	"testing"
)

// Source 3's own example of full duplicates.
const (
	rose      = "а роза упала на лапу Азора"
	roseTwice = "а роза упала на лапу, упала на лапу Азора"
)

func TestWordShingles_ExampleOfSource3(t *testing.T) {
	for _, test := range []struct {
		bounded                  bool
		resemblance, containment float64
	}{
		{true, 1, 1},
		{false, 4. / 6, 1},
	} {
		a, b := WordShingles(rose, 3, test.bounded), WordShingles(roseTwice, 3, test.bounded)
		if got := Resemblance(a, b); math.Abs(got-test.resemblance) > 1e-9 {
			t.Errorf("bounded %v: resemblance %v, want %v", test.bounded, got, test.resemblance)
		}
		if got := Containment(a, b); got != test.containment {
			t.Errorf("bounded %v: containment %v, want %v", test.bounded, got, test.containment)
		}
	}
}

func TestResemblanceByLength_FallsWithLength(t *testing.T) {
	got := ResemblanceByLength(rose, roseTwice, 3, 6, false)
	if len(got) != 4 || got[0] <= got[1] || got[1] <= got[3] {
		t.Errorf("got %v, want four that fall", got)
	}
	for w, r := range ResemblanceByLength(rose, rose, 1, 6, true) {
		if r != 1 {
			t.Errorf("a text with itself, %d words: got %v, want 1", w+1, r)
		}
	}
}

func TestResemblance_EmptySets(t *testing.T) {
	empty := WordShingles("one two", 3, false)
	if got := Resemblance(empty, empty) + Containment(empty, empty); got != 0 {
		t.Errorf("got %v, want 0", got)
	}
}
