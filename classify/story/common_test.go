package story

import (
	"reflect"
	"testing"
)

func TestCommonTerms_AreReadAsWritten(t *testing.T) {
	w, set := Default(), new(TermCounter)
	for i := range 100 {
		title := "Rust compiler"
		if i >= 20 {
			title = "Other words of item " + string(rune('a'+i))
		}
		set.Add(&w, Item{Title: title, Language: "en"})
	}
	c := Common(set)
	b, err := c.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got CommonTerms
	if err := got.UnmarshalBinary(b); err != nil || len(got.shares) != len(c.shares) {
		t.Fatalf("got %d terms (%v), want %d", len(got.shares), err, len(c.shares))
	}
	background := got.background(1000)
	for _, e := range w.Extract(Item{Title: "Rust", Language: "en"}).vector {
		if n := background.count(e.term); n < 190 || n > 210 {
			t.Errorf("got %d of 1000 virtual events with a word of every fifth item, want about 200", n)
		}
	}
	for n := range b {
		var damaged CommonTerms
		if err := damaged.UnmarshalBinary(b[:n]); err == nil && reflect.DeepEqual(damaged.shares, got.shares) {
			t.Errorf("the first %d of %d bytes: got all terms, want fewer or an error", n, len(b))
		}
	}
}

// The items of a few feeds do not show that a word is common.
func TestPlace_SharedCommonWordIsNotEnough(t *testing.T) {
	for _, titles := range [][2]string{
		{"Announcing Rust", "Learning Rust by writing a shell"},
		{"Linux on my old laptop", "A short history of Linux"},
		{"Why I moved to Google", "Google does not index my site"},
	} {
		c := fresh()
		c.Place(itemOf("1", "a", titles[0], 0))
		if got := c.Place(itemOf("2", "b", titles[1], 60)); got.EventID != "2" {
			t.Errorf("%q joined %q: %s", titles[1], titles[0], got.Reason)
		}
	}
	c := fresh()
	c.Place(itemOf("1", "a", "Google buys Nest for three billion dollars", 0))
	if got := c.Place(itemOf("2", "b", "Nest bought by Google for $3.2 billion", 60)); got.EventID != "1" {
		t.Errorf("got a new event of the same purchase")
	}
}
