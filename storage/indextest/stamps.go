package indextest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"feedmesh/storage"
)

// seen returns an item with these FirstSeen and Changed.
func seen(id string, firstSeen, when time.Time) storage.IndexItem {
	return changed(item(id, "word", ""), func(it *storage.IndexItem) { it.FirstSeen, it.Changed = firstSeen, when })
}

// stampsOf returns all stamps of t's day, page by page.
func stampsOf(t *testing.T, x storage.Index, at time.Time, limit int) []storage.Stamp {
	t.Helper()
	var all []storage.Stamp
	for after := ""; ; after = all[len(all)-1].ID {
		page, err := x.Stamps(t.Context(), storage.Day(at), after, limit)
		if err != nil {
			t.Fatalf("stamps after %q: %v", after, err)
		}
		if len(page) > limit {
			t.Fatalf("a page of %d has %d stamps", limit, len(page))
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
	}
}

// wantDays fails unless Days returns exactly these numbers of items.
func wantDays(t *testing.T, x storage.Index, want map[time.Time]int64) {
	t.Helper()
	got, err := x.Days(t.Context())
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("items by day are %v, %v, want %v", got, err, want)
	}
}

func indexDays(t *testing.T, x storage.Index) {
	wantDays(t, x, nil)
	today := storage.Day(noon)
	yesterday, tomorrow := today.Add(-24*time.Hour), today.Add(24*time.Hour)
	put(t, x,
		seen("a", today.Add(-time.Microsecond), noon), seen("b", today, noon), seen("c", noon, noon),
		seen("d", tomorrow.Add(-time.Microsecond), noon), seen("e", tomorrow, noon))
	wantDays(t, x, map[time.Time]int64{yesterday: 1, today: 3, tomorrow: 1})

	// A feed that was removed and added again has the same items with a new FirstSeen.
	put(t, x, seen("b", tomorrow, noon), seen("c", noon, noon))
	wantDays(t, x, map[time.Time]int64{yesterday: 1, today: 2, tomorrow: 2})
	if err := x.Delete(t.Context(), "a", "c", "unknown"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	wantDays(t, x, map[time.Time]int64{today: 1, tomorrow: 2})
	if err := x.Delete(t.Context(), "b", "d", "e"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	wantDays(t, x, nil)
}

func stampsInOrder(t *testing.T, x storage.Index) {
	var want []storage.Stamp
	var others []storage.IndexItem
	for i := range 25 {
		id := fmt.Sprintf("%02d", i)
		// Neither insertion order nor FirstSeen follows the order of IDs.
		stamp := storage.Stamp{ID: id, Changed: noon.Add(time.Duration(i) * time.Microsecond)}
		put(t, x, seen(fmt.Sprintf("%02d", 24-i), noon.Add(time.Duration(i)*time.Minute), noon.Add(time.Duration(24-i)*time.Microsecond)))
		others = append(others, seen(id+"-other", noon.Add(24*time.Hour), noon))
		if i%6 != 0 {
			want = append(want, stamp)
		}
	}
	put(t, x, others...)
	if err := x.Delete(t.Context(), "00", "06", "12", "18", "24"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	for _, limit := range []int{1, 7, 20, 100} {
		if got := stampsOf(t, x, noon, limit); !slices.Equal(got, want) {
			t.Errorf("walked over %v, want %v", got, want)
		}
	}
	// 13 is want[10].
	if page, err := x.Stamps(t.Context(), storage.Day(noon), "13x", 2); err != nil || !slices.Equal(page, want[11:13]) {
		t.Errorf("stamps after a missing item: got %v, %v, want %v", page, err, want[11:13])
	}
	for _, empty := range []struct {
		day   time.Time
		limit int
	}{{noon.Add(-24 * time.Hour), 10}, {noon, 0}, {noon, -1}} {
		page, err := x.Stamps(t.Context(), storage.Day(empty.day), "", empty.limit)
		if err != nil || len(page) != 0 {
			t.Errorf("%d stamps of %v are %v, %v, want none", empty.limit, empty.day, page, err)
		}
	}
}

func manyStamps(t *testing.T, x storage.Index) {
	const n = 2500 // more than the default page of some engines
	items := make([]storage.IndexItem, n)
	for i := range items {
		items[i] = seen(fmt.Sprintf("%04d", i), noon, noon)
	}
	put(t, x, items...)
	wantDays(t, x, map[time.Time]int64{storage.Day(noon): n})
	for _, limit := range []int{1000, n + 1} {
		got := stampsOf(t, x, noon, limit)
		if len(got) != n || got[0].ID != "0000" || got[n-1].ID != "2499" {
			t.Errorf("walked over %d stamps by %d, want %d in order", len(got), limit, n)
		}
	}
}

func stampsOfLatestVersion(t *testing.T, x storage.Index) {
	later := noon.Add(time.Microsecond)
	want := func(at time.Time, want ...storage.Stamp) {
		t.Helper()
		if got := stampsOf(t, x, at, 10); !slices.Equal(got, want) {
			t.Errorf("the stamps of %v are %v, want %v", storage.Day(at), got, want)
		}
	}
	put(t, x, seen("a", noon, noon), seen("b", noon, noon), seen("a", noon, later))
	want(noon, storage.Stamp{ID: "a", Changed: later}, storage.Stamp{ID: "b", Changed: noon})
	put(t, x, seen("a", noon, noon), seen("b", noon, later)) // the older version last: the index stores the latest call
	want(noon, storage.Stamp{ID: "a", Changed: noon}, storage.Stamp{ID: "b", Changed: later})

	put(t, x, seen("b", noon.Add(24*time.Hour), later))
	want(noon, storage.Stamp{ID: "a", Changed: noon})
	want(noon.Add(24*time.Hour), storage.Stamp{ID: "b", Changed: later})
	if err := x.Delete(t.Context(), "a", "b"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	want(noon)
	want(noon.Add(24 * time.Hour))
}
