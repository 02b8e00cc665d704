package near

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// mark is a Mark seen at noon.
func mark(item, feed, url, text string) Mark {
	return Mark{ItemID: item, FeedID: feed, URLKey: url, TextHash: text, Seen: noon}
}

func TestPlace(t *testing.T) {
	type step struct {
		mark Mark
		want Placed
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"nothing in common", []step{
			{mark("1", "a", "u1", "t1"), Placed{}},
			{mark("2", "b", "u2", "t2"), Placed{}},
		}},
		{"nothing known", []step{
			{mark("1", "a", "", ""), Placed{}},
			{mark("2", "b", "", ""), Placed{}},
		}},
		{"the address, from two feeds", []step{
			{mark("1", "a", "u", "t1"), Placed{}},
			{mark("2", "b", "u", "t2"), Placed{Of: "1", By: "url"}},
		}},
		{"the text, from two feeds and from one", []step{
			{mark("1", "a", "u1", "t"), Placed{}},
			{mark("2", "b", "u2", "t"), Placed{Of: "1", By: "text"}},
			{mark("3", "a", "u1", "t"), Placed{Of: "1", By: "text"}},
		}},
		{"one feed whose entries lead to one page", []step{
			{mark("1", "a", "u", "t1"), Placed{}},
			{mark("2", "a", "u", "t2"), Placed{}},
			{mark("3", "a", "u", ""), Placed{}},
			{mark("4", "a", "u", ""), Placed{}},
			{mark("5", "b", "u", "t5"), Placed{}},
			{mark("6", "b", "u", "t1"), Placed{Of: "1", By: "text"}},
		}},
		{"a chain leads to the first", []step{
			{mark("1", "a", "u1", "t1"), Placed{}},
			{mark("2", "b", "u1", "t2"), Placed{Of: "1", By: "url"}},
			{mark("3", "c", "u3", "t2"), Placed{Of: "1", By: "text"}},
			{mark("4", "d", "u3", "t4"), Placed{Of: "1", By: "url"}},
		}},
		{"one item again, changed or not", []step{
			{mark("1", "a", "u", "t1"), Placed{}},
			{mark("2", "b", "u", "t2"), Placed{Of: "1", By: "url"}},
			{mark("2", "b", "u", "t2"), Placed{Of: "1", By: "url"}},
			{mark("1", "a", "u", "t9"), Placed{}},
			{mark("2", "b", "u9", "t9"), Placed{Of: "1", By: "url"}},
		}},
	} {
		e := NewExact(time.Hour, 100)
		for _, s := range test.steps {
			if got := e.Place(s.mark); got != s.want {
				t.Errorf("%s: item %s is placed %+v, want %+v", test.name, s.mark.ItemID, got, s.want)
			}
		}
	}
}

func TestPlaceForgetsWhatIsOld(t *testing.T) {
	e := NewExact(time.Hour, 100)
	e.Place(mark("1", "a", "u", "t1"))
	at := func(d time.Duration, item string) Mark {
		m := mark(item, item, "u", "t"+item)
		m.Seen = noon.Add(d)
		return m
	}
	if got := e.Place(at(time.Hour, "2")); got.Of != "1" {
		t.Errorf("after an hour: got %+v, want a duplicate of 1", got)
	}
	if got := e.Place(at(time.Hour+time.Second, "3")); got.Of != "" {
		t.Errorf("after more than an hour: got %+v, want a first one", got)
	}
	if e.Len() != 2 {
		t.Errorf("got %d items remembered, want 2", e.Len())
	}
}

func TestPlaceForgetsTheOldestOfTooMany(t *testing.T) {
	e := NewExact(time.Hour, 3)
	for i := range 10_000 {
		e.Place(mark(fmt.Sprint(i), "a", fmt.Sprint("u", i), fmt.Sprint("t", i)))
		if e.Len() > 3 || len(e.urls) > 3 || len(e.texts) > 3 || cap(e.queue) > 8192 {
			t.Fatalf("after %d items: %d items, %d addresses, %d texts, room for %d; want at most 3 of each",
				i, e.Len(), len(e.urls), len(e.texts), cap(e.queue))
		}
	}
	if got := e.Place(mark("x", "b", "u9999", "")); got != (Placed{Of: "9999", By: "url"}) {
		t.Errorf("got %+v, want a duplicate of the newest", got)
	}
	if got := e.Place(mark("y", "b", "u9996", "")); got != (Placed{}) {
		t.Errorf("got %+v, want the forgotten one to be gone", got)
	}
}

func TestPlaceIsDeterministic(t *testing.T) {
	run := func() []Placed {
		r := rand.New(rand.NewPCG(1, 2))
		e := NewExact(time.Hour, 50)
		var list []Placed
		for i := range 5000 {
			m := mark(fmt.Sprint(r.IntN(3000)), fmt.Sprint(r.IntN(5)), fmt.Sprint(r.IntN(200)), fmt.Sprint(r.IntN(200)))
			m.Seen = noon.Add(time.Duration(i) * time.Minute)
			list = append(list, e.Place(m))
		}
		return list
	}
	first, second := run(), run()
	for i := range first {
		if first[i] != second[i] {
			t.Fatalf("step %d: got %+v, then %+v", i, first[i], second[i])
		}
	}
}

func BenchmarkPlace(b *testing.B) {
	e := NewExact(time.Hour, 100_000)
	ids := make([]string, 1<<18)
	for i := range ids {
		ids[i] = fmt.Sprintf("item%022d", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id := ids[i%len(ids)]
		e.Place(Mark{ItemID: id, FeedID: "a", URLKey: id, TextHash: id, Seen: noon})
	}
}

func TestRememberTakesBackWhatWasPlaced(t *testing.T) {
	e := NewExact(time.Hour, 10)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	// Read back in another order than they were placed in.
	e.Remember(Mark{ItemID: "second", FeedID: "b", URLKey: "x.org/1", Seen: at}, Placed{Of: "first", By: "url"})
	e.Remember(Mark{ItemID: "first", FeedID: "a", URLKey: "x.org/1", Seen: at}, Placed{})
	got := e.Place(Mark{ItemID: "third", FeedID: "c", URLKey: "x.org/1", Seen: at})
	if want := (Placed{Of: "first", By: "url"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := e.Place(Mark{ItemID: "second", FeedID: "b", URLKey: "x.org/1", Seen: at}); got.Of != "first" {
		t.Errorf("got %v for an item that was placed before, want the first again", got)
	}
}

func TestRememberTakesBackWhichAddressesSayNothing(t *testing.T) {
	e := NewExact(time.Hour, 10)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e.Remember(Mark{ItemID: "1", FeedID: "a", URLKey: "x.org/all", TextHash: "one", Seen: at}, Placed{})
	e.Remember(Mark{ItemID: "2", FeedID: "a", URLKey: "x.org/all", TextHash: "two", Seen: at}, Placed{})
	if got := e.Place(Mark{ItemID: "3", FeedID: "b", URLKey: "x.org/all", TextHash: "three", Seen: at}); got != (Placed{}) {
		t.Errorf("got %v for an address that a feed gives to all its items, want a first one", got)
	}
}
