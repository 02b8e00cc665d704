package near

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestSplit_StaysAfterEviction(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	x.Place(signature(&s, "1", "a", oil, ""))
	second := signature(&s, "2", "b", oil, "")
	x.Place(second)
	x.Place(signature(&s, "3", "c", oil, ""))
	if got := x.Split("1", "2"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("changed %v, want 2", got)
	}
	if got := x.Place(second); got.DuplicateOf != "" || got.By != "hand" || got.Reason != "split by hand" {
		t.Errorf("got %+v, want an original by manual edit", got)
	}
	if got := x.Place(signature(&s, "3", "c", oil, "")); got.DuplicateOf != "1" {
		t.Errorf("got %+v for the third, want it to stay", got)
	}
	if got := x.Split("1", "2"); got != nil {
		t.Errorf("again: changed %v, want none", got)
	}

	// Everything is evicted but the overrides.
	later := signature(&s, "1", "a", oil, "")
	later.Seen = noon.Add(1000 * time.Hour)
	x.Place(later)
	second.Seen = later.Seen
	if got := x.Place(second); got.DuplicateOf != "" {
		t.Errorf("weeks later: got %+v, want them apart", got)
	}
}

func TestSplit_OfTheOriginalSeparatesTheDuplicate(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for i := 1; i <= 3; i++ {
		x.Place(signature(&s, fmt.Sprint(i), fmt.Sprint(i), oil, ""))
	}
	if got := x.Split("2", "1"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("changed %v, want 2, as 1 is the first of all", got)
	}
	if got := x.Split("3", "2"); got != nil {
		t.Errorf("changed %v, want none: they are apart", got)
	}
}

func TestJoin_StaysAfterEviction(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	x.Place(signature(&s, "1", "a", oil, ""))
	other := signature(&s, "2", "b", "Court clears the way for a merger of banks", "")
	x.Place(other)
	x.Place(signature(&s, "3", "c", "Court clears the way for merger of banks", ""))
	if got := x.Join("1", "2"); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("changed %v, want 2 and its duplicates", got)
	}
	for _, id := range []string{"2", "3"} {
		if got := x.Place(Signature{ItemID: id, Seen: noon}); got.DuplicateOf != "1" || got.By != "hand" {
			t.Errorf("item %s: got %+v, want it joined to 1", id, got)
		}
	}
	if got := x.Place(signature(&s, "4", "d", "Court clears the way for a merger of banks", "")); got.DuplicateOf != "1" || got.By != "title" {
		t.Errorf("got %+v, want a later copy of 2 to be of its kind", got)
	}
	late := other
	late.Seen = noon.Add(1000 * time.Hour)
	if got := x.Place(late); got.DuplicateOf != "1" || got.By != "hand" {
		t.Errorf("weeks later: got %+v, want it joined to 1", got)
	}
	if got := x.Split("1", "2"); !slices.Equal(got, []string{"2"}) {
		t.Errorf("split again: changed %v, want 2", got)
	}
}

func TestOverrides_OldestAreEvicted(t *testing.T) {
	s := Default()
	s.MaxOverrides = 10
	x := NewIndex(s)
	for i := range 1000 {
		x.Split("a", fmt.Sprint(i))
		x.Join("b", fmt.Sprint(i, "b"))
	}
	if n := len(x.overrides.list) + len(x.overrides.joins) + len(x.overrides.last); n > 40 {
		t.Errorf("%d decisions are stored, want at most 10", n)
	}
}

func TestOverrides_SurviveARebuild(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	var signatures []Signature
	for i := 1; i <= 4; i++ {
		signatures = append(signatures, signature(&s, fmt.Sprint(i), fmt.Sprint(i), oil, ""))
	}
	signatures = append(signatures, signature(&s, "5", "a", "Court clears the way for a merger of banks", ""))
	for _, m := range signatures {
		x.Place(m)
	}
	x.Split("1", "2")
	x.Join("1", "3") // as it is
	x.Join("1", "5")
	b, err := json.Marshal(x.Overrides())
	if want := `[{"a":"1","b":"2"},{"a":"1","b":"3","join":true},{"a":"1","b":"5","join":true}]`; err != nil || string(b) != want {
		t.Fatalf("got %s, %v; want %s", b, err, want)
	}
	restored := NewIndex(s)
	for _, m := range signatures {
		restored.Restore(m, x.Place(m))
	}
	var overrides []Override
	if err := json.Unmarshal(b, &overrides); err != nil {
		t.Fatal(err)
	}
	for _, h := range overrides {
		restored.AddOverride(h)
	}
	for _, m := range signatures {
		if got, want := restored.Place(m), x.Place(m); got != want {
			t.Errorf("item %s: got %+v, want %+v as it was stored", m.ItemID, got, want)
		}
	}
	if got := restored.Overrides(); !slices.Equal(got, x.Overrides()) {
		t.Errorf("got overrides %v, want %v", got, x.Overrides())
	}

	// Everything is evicted but the overrides.
	for _, m := range signatures {
		m.Seen = noon.Add(1000 * time.Hour)
		if got, want := restored.Place(m), x.Place(m); got != want || (m.ItemID == "2") != (want.DuplicateOf == "" && m.ItemID != "1") {
			t.Errorf("weeks later, item %s: got %+v, want %+v", m.ItemID, got, want)
		}
	}
}

func TestOverrides_RepeatedDecisionIsStoredOnce(t *testing.T) {
	s := Default()
	s.MaxOverrides = 3
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
	want := []Override{{"b", "a", false}, {"c", "d", true}, {"c", "e", true}}
	if got := x.Overrides(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := len(x.overrides.list); n > 6 {
		t.Errorf("got %d decisions in memory, want at most twice the effective ones", n)
	}
	x.Split("d", "c")
	if got := x.Overrides(); len(got) != 3 || got[2] != (Override{"d", "c", false}) {
		t.Errorf("got %v, want the split in place of the join", got)
	}
}

func TestOverrides_RepeatedEditsUseBoundedMemory(t *testing.T) {
	s := Default()
	x := NewIndex(s)
	for i := range 50 {
		x.Place(signature(&s, fmt.Sprint(i), fmt.Sprint(i), oil, ""))
	}
	for range 1000 {
		if got := x.Split("0", "7"); !slices.Equal(got, []string{"7"}) {
			t.Fatalf("split: changed %v, want 7", got)
		}
		if got := x.Join("0", "7"); !slices.Equal(got, []string{"7"}) {
			t.Fatalf("join: changed %v, want 7", got)
		}
	}
	if n := len(x.texts[0].bytes); n > 1<<14 {
		t.Errorf("the words of 50 items take %d bytes", n)
	}
	for i := range 50 {
		if got := x.Place(Signature{ItemID: fmt.Sprint(i), Seen: noon}); (got.DuplicateOf == "0") != (i > 0) || (got.By == "hand") != (i == 7) {
			t.Errorf("item %d: got %+v", i, got)
		}
	}
}

func TestIndex_EvictedOriginalIsNotItsOwnDuplicate(t *testing.T) {
	s := Default()
	s.MaxItems = 5
	x, e := NewIndex(s), NewExact(s.Window, s.MaxItems)
	for i := range 6 {
		x.Place(signature(&s, fmt.Sprint(i), fmt.Sprint(i), oil, news(1)))
		e.Place(signature(&s, fmt.Sprint(i), fmt.Sprint(i), oil, news(1)))
	}
	if got := x.Place(signature(&s, "0", "0", oil, news(1))); got != (Match{}) {
		t.Errorf("got %+v, want the first of its kind", got)
	}
	if got := e.Place(signature(&s, "0", "0", oil, news(1))); got != (Match{}) {
		t.Errorf("by address and text alone: got %+v, want the first of its kind", got)
	}
}
