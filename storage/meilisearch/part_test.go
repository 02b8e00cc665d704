package meilisearch

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// day returns a day of March 2026.
func day(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }

func TestPartsOf(t *testing.T) {
	all := partsOf("items", map[string]upstream.StatsIndex{
		"items-2026-03-05": {NumberOfDocuments: 2}, "items": {NumberOfDocuments: 3}, "items-2026-03-02": {}, "items-old": {NumberOfDocuments: 9},
		"other-2026-03-03": {}, "items2": {},
	})
	want := parts{
		{name: "items", until: day(2), documents: 3},
		{name: "items-2026-03-02", since: day(2), until: day(5)},
		{name: "items-2026-03-05", since: day(5), documents: 2},
	}
	if !slices.Equal(all, want) {
		t.Errorf("got %v, want %v", all, want)
	}
	if got, want := all.filled().names(), []string{"items-2026-03-05", "items"}; !slices.Equal(got, want) {
		t.Errorf("got filled parts %v, want %v", got, want)
	}
	for i := 1; i < 10; i++ {
		n := 0
		for _, p := range all {
			if p.has(day(i)) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%v belongs to %d parts, want 1", day(i), n)
		}
	}
	if all := partsOf("items", nil); len(all) != 1 || all[0].name != "items" {
		t.Errorf("got parts %v of a server without indexes, want the first", all)
	}
}

func TestParts_Divided(t *testing.T) {
	days := func(counts ...int64) map[time.Time]int64 {
		all := map[time.Time]int64{}
		for i, n := range counts {
			if n > 0 {
				all[day(i+1)] = n
			}
		}
		return all
	}
	one := parts{{name: "items"}}
	two := parts{{name: "items", until: day(3)}, {name: "items-2026-03-03", since: day(3)}}
	for _, test := range []struct {
		what            string
		all             parts
		stored, indexed map[time.Time]int64
		now             time.Time
		want            []time.Time
	}{
		{"nothing stored", one, nil, nil, day(4), nil},
		{"not full", one, days(4, 5), days(4, 5), day(2), nil},
		{"full: from tomorrow on", one, days(4, 6), days(4, 6), day(2), []time.Time{day(3)}},
		{"full, and tomorrow begins soon", one, days(4, 6), days(4, 6), day(3).Add(-time.Minute), nil},
		{"full, and an item of tomorrow has arrived", one, days(4, 6, 1), days(4, 6, 1), day(2), nil},
		{"full, the part of tomorrow exists", two, days(4, 6), days(4, 6), day(2), nil},
		{"the last part is full", two, days(4, 6, 9, 1), days(4, 6, 9, 1), day(4), []time.Time{day(5)}},
		{"the index is empty, it is built from the store", one, days(4, 6, 9, 2, 1), nil, day(5), []time.Time{day(3), day(5)}},
		{"it is built by an agent whose clock is behind", one, days(4, 6, 9, 2), nil, day(1), []time.Time{}},
		{"new items arrive while it is built", one, days(4, 6, 9, 2, 1), days(0, 0, 0, 0, 1), day(5), []time.Time{day(3), day(5)}},
		{"some items are missing", one, days(4, 6, 9, 2, 1), days(4, 6, 1, 2, 1), day(5), []time.Time{day(6)}},
	} {
		if got := test.all.divided(daysUntil(test.stored, test.now), test.stored, test.indexed, 10); !slices.Equal(got, test.want) {
			t.Errorf("%s: got new parts from %v, want %v", test.what, got, test.want)
		}
	}
}

// itemsOf returns n items with the word "word" of a day of March 2026. Their IDs begin with a text.
func itemsOf(n, of int, id string) []storage.IndexItem {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprint(id, i))
	}
	items := words(ids...)
	for i := range items {
		items[i].FirstSeen = day(of).Add(time.Hour)
	}
	return items
}

func put(t *testing.T, x *Index, items []storage.IndexItem) {
	t.Helper()
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
}

// divide calls Divide and fails unless the index has these documents by part then.
func divide(t *testing.T, x *Index, stored map[time.Time]int64, now time.Time, want map[string]int64) {
	t.Helper()
	if err := x.Divide(t.Context(), stored, now); err != nil {
		t.Fatal(err)
	}
	wantDocuments(t, x, want)
}

func wantDocuments(t *testing.T, x *Index, want map[string]int64) {
	t.Helper()
	all, err := x.readParts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, p := range all {
		got[p.name[len(x.name):]] = p.documents
	}
	if !maps.Equal(got, want) {
		t.Errorf("got documents %v, want %v", got, want)
	}
}

func TestDivide_FullPart(t *testing.T) {
	options := newOptions(t)
	options.partSize = 3
	x := open(t, options)
	other := open(t, options) // the index of another agent, with the parts cached at the start
	put(t, x, itemsOf(3, 1, "a"))
	wantFound(t, other, "a0", "a1", "a2")
	stored := map[time.Time]int64{day(1): 3}
	divide(t, x, stored, day(1).Add(time.Hour), map[string]int64{"": 3, "-2026-03-02": 0})
	divide(t, x, stored, day(1).Add(2*time.Hour), map[string]int64{"": 3, "-2026-03-02": 0})

	put(t, other, itemsOf(2, 2, "b"))
	put(t, other, itemsOf(1, 1, "c"))
	wantDocuments(t, x, map[string]int64{"": 4, "-2026-03-02": 2})
	for _, agent := range []*Index{x, other} {
		wantFound(t, agent, "a0", "a1", "a2", "b0", "b1", "c0")
	}
	if n, err := x.Count(t.Context()); err != nil || n != 6 {
		t.Errorf("count: got %d, %v, want 6", n, err)
	}

	// The part for new items stays though it is empty; others leave with their items.
	stored = map[time.Time]int64{day(1): 4, day(2): 3}
	divide(t, x, stored, day(2), map[string]int64{"": 4, "-2026-03-02": 2, "-2026-03-03": 0})
	if err := x.Delete(t.Context(), "b0", "b1"); err != nil {
		t.Fatal(err)
	}
	divide(t, x, stored, day(2), map[string]int64{"": 4, "-2026-03-02": 0, "-2026-03-03": 0})
	divide(t, x, map[time.Time]int64{day(1): 4}, day(3), map[string]int64{"": 4, "-2026-03-03": 0})
}

// An item of a feed that was removed and added again has a later day.
func TestPut_ItemOfAnotherPart(t *testing.T) {
	x := open(t, newOptions(t))
	if err := x.applySettings(t.Context(), partSince(x.name, day(2))); err != nil {
		t.Fatal(err)
	}
	put(t, x, itemsOf(2, 1, "a"))
	put(t, x, itemsOf(1, 2, "a"))
	wantDocuments(t, x, map[string]int64{"": 1, "-2026-03-02": 1})
	wantFound(t, x, "a0", "a1")
}

// Puts of an older version, and those whose list of parts is older than a part, go to the wrong part.
func TestDivide_MisplacedDocuments(t *testing.T) {
	x := open(t, newOptions(t))
	put(t, x, append(itemsOf(2, 1, "a"), itemsOf(2, 2, "b")...))
	if err := x.applySettings(t.Context(), partSince(x.name, day(2))); err != nil {
		t.Fatal(err)
	}
	put(t, x, itemsOf(1, 3, "c"))
	days, err := x.Days(t.Context())
	if want := map[time.Time]int64{day(1): 2, day(3): 1}; err != nil || !maps.Equal(days, want) {
		t.Errorf("got days %v, %v, want %v: items in another part than theirs are missing", days, err, want)
	}
	if stamps, err := x.Stamps(t.Context(), day(2), "", 10); err != nil || len(stamps) > 0 {
		t.Errorf("got stamps %v, %v, want none", stamps, err)
	}
	divide(t, x, map[time.Time]int64{day(1): 2, day(2): 2, day(3): 1}, day(3), map[string]int64{"": 2, "-2026-03-02": 1})
	put(t, x, itemsOf(2, 2, "b"))
	wantFound(t, x, "a0", "a1", "b0", "b1", "c0")
}

// Searches go on with what is left when someone deletes a part, and puts create it again.
func TestSearch_DeletedPart(t *testing.T) {
	x := open(t, newOptions(t))
	name := partSince(x.name, day(2))
	if err := x.applySettings(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	put(t, x, itemsOf(1, 1, "a"))
	put(t, x, itemsOf(1, 2, "b"))
	wantFound(t, x, "a0", "b0")
	info, err := x.server.DeleteIndex(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.wait(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	wantFound(t, x, "a0")
	put(t, x, itemsOf(1, 2, "b"))
	wantFound(t, x, "a0", "b0")
	wantSettings(t, x)
}

// A key for the first part only would fail when the index is divided, months later.
func TestOpen_KeyForAllParts(t *testing.T) {
	options := newOptions(t)
	keys := upstream.New(options.URL, upstream.WithAPIKey(options.Key))
	for indexes, accepted := range map[string]bool{options.name: false, options.name + "*": true} {
		key, err := keys.CreateKey(&upstream.Key{Actions: []string{"*"}, Indexes: []string{indexes}})
		if err != nil {
			t.Fatal(err)
		}
		x, err := Open(t.Context(), Options{URL: options.URL, Key: key.Key, name: options.name})
		if (err == nil) != accepted {
			t.Errorf("open with a key for %q: got %v, want it accepted: %v", indexes, err, accepted)
		}
		if err != nil {
			continue
		}
		x.partSize = 1
		put(t, x, itemsOf(1, 1, "a"))
		divide(t, x, map[time.Time]int64{day(1): 1}, day(1), map[string]int64{"": 1, "-2026-03-02": 0})
	}
}

// Pages of an index with many parts are those of an index with one, wherever the first hits are.
func TestSearch_ManyParts(t *testing.T) {
	whole, divided := open(t, newOptions(t)), open(t, newOptions(t))
	const days = 6
	for n := 2; n <= days; n++ {
		if err := divided.applySettings(t.Context(), partSince(divided.name, day(n))); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	var items []storage.IndexItem
	for n := 1; n <= days; n++ {
		for _, it := range itemsOf(20, n, fmt.Sprint("day", n, "-")) {
			it.Published = day(1).Add(time.Duration(r.IntN(days*24)) * time.Hour)
			if n == 3 { // most of the first hits are of this day
				it.Published, it.Sources = day(9), 5
			}
			if r.IntN(2) == 0 {
				it.StoryID = fmt.Sprint("story", r.IntN(15))
				it.Sources = 1 + r.IntN(9)
			}
			if r.IntN(3) == 0 {
				it.Text, it.Title = it.Title+" other", "title"
			}
			items = append(items, it)
		}
	}
	put(t, whole, items)
	put(t, divided, items)
	for _, q := range []storage.Query{
		{Where: query.Text{Words: "word"}}, {Where: query.Text{Words: "word"}, Newest: true}, {},
		{Where: query.Text{Words: "word"}, OnePerStory: true}, {OnePerStory: true}, {Where: query.Text{Words: "word"}, Newest: true, OnePerStory: true},
		{Where: query.Or{query.Text{Words: "other"}, query.Text{Words: "title"}}}, {Where: query.Text{Words: "other"}, Facets: true},
	} {
		q.Limit = 4
		got, want := q, q
		for page := 1; ; page++ {
			a, err := divided.Search(t.Context(), got)
			if err != nil {
				t.Fatal(err)
			}
			b, err := whole.Search(t.Context(), want)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(a.Hits, b.Hits) || a.Total != b.Total || (a.Next == "") != (b.Next == "") {
				t.Errorf("%+v: page %d: got %v of %d, want %v of %d", q, page, a.Hits, a.Total, b.Hits, b.Total)
				break
			}
			if got.Cursor, want.Cursor = a.Next, b.Next; a.Next == "" {
				break
			}
		}
	}
}
