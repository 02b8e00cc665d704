package near

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLinearHash_FindsTheRowsOfAMap compares chains with a plain list, across the
// number at which nodes are numbered from 0 again.
func TestLinearHash_FindsTheRowsOfAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	c := newLinearHash(4)
	c.first = 1<<32 - 3*nodesPerBlock
	c.next = c.first
	var rows [][]uint32
	for step := range 60_000 {
		if len(rows) > 0 && (len(rows) > 9000 || random.IntN(3) == 0) {
			c.evictOldest()
			rows = rows[1:]
		}
		keys := make([]uint32, random.IntN(5))
		for i := range keys {
			keys[i] = uint32(mix(uint64(random.IntN(20_000)))) // 0 apart, some come again
		}
		c.add(keys)
		rows = append(rows, keys)
		if step%50 == 0 {
			compareFinds(t, c, rows, random)
		}
	}
	if c.next > 1<<20 {
		t.Errorf("nodes are numbered %d to %d, want them to have begun from 0 again", c.first, c.next)
	}
	if blocks := int(c.size())/nodesPerBlock + 2; blocksOf(c) > blocks {
		t.Errorf("got %d blocks for %d nodes", blocksOf(c), c.size())
	}
}

func blocksOf(c *linearHash) (n int) {
	for _, b := range c.blocks {
		if b != nil {
			n++
		}
	}
	return n
}

func compareFinds(t *testing.T, c *linearHash, rows [][]uint32, random *rand.Rand) {
	t.Helper()
	keys := []uint32{uint32(mix(uint64(random.IntN(20_000)))), uint32(mix(uint64(random.IntN(20_000)))), 0}
	var s lookup
	c.find(&s, keys, 1000)
	for i, key := range keys[:2] {
		var want, got, each []uint32
		for r := len(rows) - 1; r >= 0; r-- {
			for _, k := range rows[r] {
				if k == key {
					want = append(want, uint32(r))
				}
			}
		}
		for _, h := range s.hits {
			if int(h.key) == i {
				got = append(got, h.row)
			}
		}
		c.each(key, func(row uint32) bool { each = append(each, row); return true })
		if !slices.Equal(got, want) || !slices.Equal(each, want) {
			t.Fatalf("key %d: got rows %v and %v, want %v", key, got, each, want)
		}
	}
}

func TestLinearHash_FindStopsAtLimit(t *testing.T) {
	c := newLinearHash(1)
	for range 100 {
		c.add([]uint32{7})
	}
	var s lookup
	if c.find(&s, []uint32{7}, 10); len(s.hits) != 11 || s.counts[0] != 11 {
		t.Errorf("got %d hits, want 11", len(s.hits))
	}
}
