package near

import (
	"encoding/json"
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
	if n := len(x.hand.list) + len(x.hand.joins) + len(x.hand.last); n > 40 {
		t.Errorf("%d decisions and what they say are remembered, want at most 10", n)
	}
}

func TestHandsSurviveARebuild(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	var marks []Mark
	for i := 1; i <= 4; i++ {
		marks = append(marks, told(&s, fmt.Sprint(i), fmt.Sprint(i), oil, ""))
	}
	marks = append(marks, told(&s, "5", "a", "Court clears the way for a merger of banks", ""))
	for _, m := range marks {
		x.Place(m)
	}
	x.Split("1", "2")
	x.Join("1", "3") // as it is
	x.Join("1", "5")
	b, err := json.Marshal(x.Hands())
	if want := `[{"a":"1","b":"2"},{"a":"1","b":"3","join":true},{"a":"1","b":"5","join":true}]`; err != nil || string(b) != want {
		t.Fatalf("got %s, %v; want %s", b, err, want)
	}
	again := NewIndex(s)
	for _, m := range marks {
		again.Remember(m, x.Place(m))
	}
	var hands []Hand
	if err := json.Unmarshal(b, &hands); err != nil {
		t.Fatal(err)
	}
	for _, h := range hands {
		again.Hold(h)
	}
	for _, m := range marks {
		if got, want := again.Place(m), x.Place(m); got != want {
			t.Errorf("item %s: got %+v, want %+v as it was stored", m.ItemID, got, want)
		}
	}
	if got := again.Hands(); !slices.Equal(got, x.Hands()) {
		t.Errorf("got hands %v, want %v", got, x.Hands())
	}

	// All is forgotten but what people said.
	for _, m := range marks {
		m.Seen = noon.Add(1000 * time.Hour)
		if got, want := again.Place(m), x.Place(m); got != want || (m.ItemID == "2") != (want.Of == "" && m.ItemID != "1") {
			t.Errorf("weeks later, item %s: got %+v, want %+v", m.ItemID, got, want)
		}
	}
}

func TestSaidTwiceIsSaidOnce(t *testing.T) {
	s := Default()
	s.Held = 3
	x := NewIndex(s)
	for range 100 {
		x.Split("a", "b")
		x.Split("b", "a")
	}
	x.Join("c", "d")
	x.Join("c", "e")
	for range 100 {
		x.Join("c", "e") // must not push out the others
	}
	want := []Hand{{"b", "a", false}, {"c", "d", true}, {"c", "e", true}}
	if got := x.Hands(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := len(x.hand.list); n > 6 {
		t.Errorf("got %d decisions in memory, want no more than twice what holds", n)
	}
	x.Split("d", "c")
	if got := x.Hands(); len(got) != 3 || got[2] != (Hand{"d", "c", false}) {
		t.Errorf("got %v, want the split in place of the join", got)
	}
}

func TestChangingOnesMindTakesNoMemory(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for i := range 50 {
		x.Place(told(&s, fmt.Sprint(i), fmt.Sprint(i), oil, ""))
	}
	for range 1000 {
		if got := x.Split("0", "7"); !slices.Equal(got, []string{"7"}) {
			t.Fatalf("split: changed %v, want 7", got)
		}
		if got := x.Join("0", "7"); !slices.Equal(got, []string{"7"}) {
			t.Fatalf("join: changed %v, want 7", got)
		}
	}
	if n := len(x.texts[0]); n > 1<<14 {
		t.Errorf("the words of 50 items take %d bytes", n)
	}
	for i := range 50 {
		if got := x.Place(Mark{ItemID: fmt.Sprint(i), Seen: noon}); (got.Of == "0") != (i > 0) || (got.By == "hand") != (i == 7) {
			t.Errorf("item %d: got %+v", i, got)
		}
	}
}

func TestWhatIsForgottenAndComesAgainRepeatsNotItself(t *testing.T) {
	s := Default()
	s.Max = 5
	x, e := NewIndex(s), NewExact(s.Window, s.Max)
	for i := range 6 {
		x.Place(told(&s, fmt.Sprint(i), fmt.Sprint(i), oil, news(1)))
		e.Place(told(&s, fmt.Sprint(i), fmt.Sprint(i), oil, news(1)))
	}
	if got := x.Place(told(&s, "0", "0", oil, news(1))); got != (Placed{}) {
		t.Errorf("got %+v, want the first of its kind", got)
	}
	if got := e.Place(told(&s, "0", "0", oil, news(1))); got != (Placed{}) {
		t.Errorf("by address and text alone: got %+v, want the first of its kind", got)
	}
}
