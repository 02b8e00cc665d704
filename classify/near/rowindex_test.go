package near

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The first rows are evicted while later ones are added, across several tables.
func TestRowIndex_FindsTheRowsOfAMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	x := newRowIndex(2)
	rows := map[uint32][]uint32{} // numbers of the rows by key, oldest first
	first, next := uint32(0), uint32(0)
	const distinct = 30_000
	for range 3*maxFrozen - 1 {
		keys := []uint32{uint32(mix(uint64(random.IntN(distinct)))) | 1, 0}
		if random.IntN(2) == 0 {
			keys[1] = uint32(mix(uint64(random.IntN(distinct)))) | 1
		}
		x.add(keys)
		for i, key := range keys {
			if key != 0 && (i == 0 || key != keys[0]) {
				rows[key] = append(rows[key], next)
			}
		}
		next++
		if next > maxFrozen/2 && random.IntN(2) == 0 {
			x.evictOldest()
			first++
		}
		if next%97 != 0 {
			continue
		}
		key := uint32(mix(uint64(random.IntN(distinct)))) | 1
		want := []uint32{}
		for _, row := range slices.Backward(rows[key]) {
			if row >= first {
				want = append(want, row-first)
			}
		}
		got, hits := []uint32{}, []uint32{}
		x.each(key, func(row uint32) bool { got = append(got, row); return true })
		var s lookup
		x.find(&s, []uint32{0, key}, 1000)
		for _, h := range s.hits {
			hits = append(hits, h.row)
		}
		got, hits = slices.Compact(got), slices.Compact(hits) // a row may have its key twice
		if !slices.Equal(got, want) || !slices.Equal(hits, want) {
			t.Fatalf("row %d, key %x: got %v and %v, want %v", next, key, got, hits, want)
		}
	}
	if len(x.frozen) == 0 || x.len() != next-first {
		t.Errorf("got %d tables and %d rows, want some tables and %d rows", len(x.frozen), x.len(), next-first)
	}
}

func TestRowIndex_FindStopsAtLimit(t *testing.T) {
	t.Parallel()
	x := newRowIndex(1)
	for range maxFrozen + 5 {
		x.add([]uint32{7})
	}
	var s lookup
	if x.find(&s, []uint32{7}, 10); len(s.hits) != 11 || s.counts[0] != 11 {
		t.Errorf("got %d hits, want 11", len(s.hits))
	}
	visited := 0
	x.each(7, func(row uint32) bool { visited++; return true })
	if visited > 2*longest {
		t.Errorf("got %d rows, want at most %d from each part", visited, longest)
	}
}
