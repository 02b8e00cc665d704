package near

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestSplitHolds(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	x.Place(told(&s, "1", "a", oil, ""))
	second := told(&s, "2", "b", oil, "")
	x.Place(second)
	x.Place(told(&s, "3", "c", oil, ""))
	if got := x.Split("1", "2"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("changed %v, want 2", got)
	}
	if got := x.Place(second); got.Of != "" || got.By != "hand" || got.Why != "split by hand" {
		t.Errorf("got %+v, want a first one, by hand", got)
	}
	if got := x.Place(told(&s, "3", "c", oil, "")); got.Of != "1" {
		t.Errorf("got %+v for the third, want it to stay", got)
	}
	if got := x.Split("1", "2"); got != nil {
		t.Errorf("again: changed %v, want none", got)
	}

	// All is forgotten but what a person said.
	later := told(&s, "1", "a", oil, "")
	later.Seen = noon.Add(1000 * time.Hour)
	x.Place(later)
	second.Seen = later.Seen
	if got := x.Place(second); got.Of != "" {
		t.Errorf("weeks later: got %+v, want them apart", got)
	}
}

func TestSplitOfTheFirstTakesTheOtherOut(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for i := 1; i <= 3; i++ {
		x.Place(told(&s, fmt.Sprint(i), fmt.Sprint(i), oil, ""))
	}
	if got := x.Split("2", "1"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("changed %v, want 2, as 1 is the first of all", got)
	}
	if got := x.Split("3", "2"); got != nil {
		t.Errorf("changed %v, want none: they are apart", got)
	}
}

func TestJoinHolds(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	x.Place(told(&s, "1", "a", oil, ""))
	other := told(&s, "2", "b", "Court clears the way for a merger of banks", "")
	x.Place(other)
	x.Place(told(&s, "3", "c", "Court clears the way for merger of banks", ""))
	if got := x.Join("1", "2"); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("changed %v, want 2 and what repeats it", got)
	}
	for _, id := range []string{"2", "3"} {
		if got := x.Place(Mark{ItemID: id, Seen: noon}); got.Of != "1" || got.By != "hand" {
			t.Errorf("item %s: got %+v, want it joined to 1", id, got)
		}
	}
	if got := x.Place(told(&s, "4", "d", "Court clears the way for a merger of banks", "")); got.Of != "1" || got.By != "title" {
		t.Errorf("got %+v, want a later copy of 2 to be of its kind", got)
	}
	late := other
	late.Seen = noon.Add(1000 * time.Hour)
	if got := x.Place(late); got.Of != "1" || got.By != "hand" {
		t.Errorf("weeks later: got %+v, want it joined to 1", got)
	}
	if got := x.Split("1", "2"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("split again: changed %v, want 2", got)
	}
}

func TestTheOldestDecisionsAreForgotten(t *testing.T) {
	s := Default()
	s.Held = 10
	x := NewIndex(s)
	for i := range 1000 {
		x.Split("a", fmt.Sprint(i))
		x.Join("b", fmt.Sprint(i, "b"))
	}
	if n := len(x.hand.decisions) + len(x.hand.joins) + len(x.hand.splits); n > 20 {
		t.Errorf("%d decisions and what they say are remembered, want at most 10", n)
	}
}
