package near

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// mark returns a signature seen at noon.
func mark(item, feed, url, text string) Signature {
	return Signature{ItemID: item, FeedID: feed, URLKey: url, TextHash: text, Seen: noon}
}

func TestExact_Place(t *testing.T) {
	type step struct {
		mark Signature
		want Match
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"nothing in common", []step{
			{mark("1", "a", "u1", "t1"), Match{}},
			{mark("2", "b", "u2", "t2"), Match{}},
		}},
		{"no features", []step{
			{mark("1", "a", "", ""), Match{}},
			{mark("2", "b", "", ""), Match{}},
		}},
		{"equal addresses in two feeds", []step{
			{mark("1", "a", "u", "t1"), Match{}},
			{mark("2", "b", "u", "t2"), Match{DuplicateOf: "1", By: "url"}},
		}},
		{"equal texts in two feeds and in one", []step{
			{mark("1", "a", "u1", "t"), Match{}},
			{mark("2", "b", "u2", "t"), Match{DuplicateOf: "1", By: "text"}},
			{mark("3", "a", "u1", "t"), Match{DuplicateOf: "1", By: "text"}},
		}},
		{"a feed whose entries share an address", []step{
			{mark("1", "a", "u", "t1"), Match{}},
			{mark("2", "a", "u", "t2"), Match{}},
			{mark("3", "a", "u", ""), Match{}},
			{mark("4", "a", "u", ""), Match{}},
			{mark("5", "b", "u", "t5"), Match{}},
			{mark("6", "b", "u", "t1"), Match{DuplicateOf: "1", By: "text"}},
		}},
		{"a chain has the first item as original", []step{
			{mark("1", "a", "u1", "t1"), Match{}},
			{mark("2", "b", "u1", "t2"), Match{DuplicateOf: "1", By: "url"}},
			{mark("3", "c", "u3", "t2"), Match{DuplicateOf: "1", By: "text"}},
			{mark("4", "d", "u3", "t4"), Match{DuplicateOf: "1", By: "url"}},
		}},
		{"an item placed again, changed or not", []step{
			{mark("1", "a", "u", "t1"), Match{}},
			{mark("2", "b", "u", "t2"), Match{DuplicateOf: "1", By: "url"}},
			{mark("2", "b", "u", "t2"), Match{DuplicateOf: "1", By: "url"}},
			{mark("1", "a", "u", "t9"), Match{}},
			{mark("2", "b", "u9", "t9"), Match{DuplicateOf: "1", By: "url"}},
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

func TestExact_EvictsItemsOutsideTheWindow(t *testing.T) {
	e := NewExact(time.Hour, 100)
	e.Place(mark("1", "a", "u", "t1"))
	at := func(d time.Duration, item string) Signature {
		m := mark(item, item, "u", "t"+item)
		m.Seen = noon.Add(d)
		return m
	}
	if got := e.Place(at(time.Hour, "2")); got.DuplicateOf != "1" {
		t.Errorf("after an hour: got %+v, want a duplicate of 1", got)
	}
	if got := e.Place(at(time.Hour+time.Second, "3")); got.DuplicateOf != "" {
		t.Errorf("after more than an hour: got %+v, want an original", got)
	}
	if e.Len() != 2 {
		t.Errorf("got %d items remembered, want 2", e.Len())
	}
}

func TestExact_EvictsOldestBeyondMax(t *testing.T) {
	e := NewExact(time.Hour, 3)
	for i := range 10_000 {
		e.Place(mark(fmt.Sprint(i), "a", fmt.Sprint("u", i), fmt.Sprint("t", i)))
		if e.Len() > 3 || len(e.urls) > 3 || len(e.texts) > 3 || cap(e.queue) > 8192 {
			t.Fatalf("after %d items: %d items, %d addresses, %d texts, room for %d; want at most 3 of each",
				i, e.Len(), len(e.urls), len(e.texts), cap(e.queue))
		}
	}
	if got := e.Place(mark("x", "b", "u9999", "")); got != (Match{DuplicateOf: "9999", By: "url"}) {
		t.Errorf("got %+v, want a duplicate of the newest", got)
	}
	if got := e.Place(mark("y", "b", "u9996", "")); got != (Match{}) {
		t.Errorf("got %+v, want the evicted item to be gone", got)
	}
}

func TestExact_IsDeterministic(t *testing.T) {
	run := func() []Match {
		r := rand.New(rand.NewPCG(1, 2))
		e := NewExact(time.Hour, 50)
		var list []Match
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

func BenchmarkExact_Place(b *testing.B) {
	e := NewExact(time.Hour, 100_000)
	ids := make([]string, 1<<18)
	for i := range ids {
		ids[i] = fmt.Sprintf("item%022d", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id := ids[i%len(ids)]
		e.Place(Signature{ItemID: id, FeedID: "a", URLKey: id, TextHash: id, Seen: noon})
	}
}

func TestExact_RestoreKeepsMatches(t *testing.T) {
	e := NewExact(time.Hour, 10)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	// Restored in another order than placed.
	e.Restore(Signature{ItemID: "second", FeedID: "b", URLKey: "x.org/1", Seen: at}, Match{DuplicateOf: "first", By: "url"})
	e.Restore(Signature{ItemID: "first", FeedID: "a", URLKey: "x.org/1", Seen: at}, Match{})
	got := e.Place(Signature{ItemID: "third", FeedID: "c", URLKey: "x.org/1", Seen: at})
	if want := (Match{DuplicateOf: "first", By: "url"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := e.Place(Signature{ItemID: "second", FeedID: "b", URLKey: "x.org/1", Seen: at}); got.DuplicateOf != "first" {
		t.Errorf("got %v for an item that was placed before, want its first match", got)
	}
}

func TestExact_RestoreKeepsSharedAddresses(t *testing.T) {
	e := NewExact(time.Hour, 10)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e.Restore(Signature{ItemID: "1", FeedID: "a", URLKey: "x.org/all", TextHash: "one", Seen: at}, Match{})
	e.Restore(Signature{ItemID: "2", FeedID: "a", URLKey: "x.org/all", TextHash: "two", Seen: at}, Match{})
	if got := e.Place(Signature{ItemID: "3", FeedID: "b", URLKey: "x.org/all", TextHash: "three", Seen: at}); got != (Match{}) {
		t.Errorf("got %v for an address shared by all items of a feed, want an original", got)
	}
}
