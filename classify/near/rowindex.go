package near

import "slices"

// A rowIndex maps keys to rows with up to width keys each, of which the oldest is evicted first. The newest rows are in
// a linear hash, which takes 12 bytes a key. Each frozenRows of them are converted to a table of 4 bytes a key that never
// changes; tables of equal size are merged, up to maxFrozen rows, since each costs a look-up. A row is identified by the
// number of older rows.
type rowIndex struct {
	width   uint32
	frozen  []frozenTable // oldest first
	evicted uint32        // rows of the oldest table that are evicted
	live    *linearHash
}

const (
	frozenRows = 1 << 14
	maxFrozen  = 1 << 16 // a row and the lower half of a key fit into an entry
)

// A frozenTable contains the keys of rows.
type frozenTable struct {
	rows    uint32
	ends    []uint32 // by the upper half of a key: end of its entries
	entries []uint32 // row and lower half of the key, 16 bits each; oldest first for each upper half
}

// newRowIndex returns an empty index of rows with width keys each, a power of two.
func newRowIndex(width int) *rowIndex {
	return &rowIndex{width: uint32(width), live: newLinearHash(width)}
}

// len returns the number of rows.
func (x *rowIndex) len() uint32 { return x.frozenSize() + x.live.size()/x.width }

// each calls yield with the rows that have a key, newest first, until it returns false.
func (x *rowIndex) each(key uint32, yield func(row uint32) bool) {
	more := true
	base := x.frozenSize()
	x.live.each(key, func(row uint32) bool {
		more = yield(base + row)
		return more
	})
	x.eachFrozen(key, func(row uint32) bool {
		more = more && yield(row)
		return more
	})
}

// eachFrozen calls yield with the rows in tables that have a key, newest first, until it returns false.
func (x *rowIndex) eachFrozen(key uint32, yield func(row uint32) bool) {
	first := x.frozenSize() + x.evicted
	for i := len(x.frozen) - 1; i >= 0; i-- {
		first -= x.frozen[i].rows
		for _, e := range slices.Backward(x.frozen[i].bucket(key)) {
			row := first + e>>16
			if row < x.evicted {
				return
			}
			if e&0xffff == key&0xffff && !yield(row-x.evicted) {
				return
			}
		}
	}
}

// bucket returns the entries of all keys with the same upper half, at most the newest that a chain of the linear hash
// would be followed to.
func (t *frozenTable) bucket(key uint32) []uint32 {
	from := uint32(0)
	if upper := key >> 16; upper > 0 {
		from = t.ends[upper-1]
	}
	end := t.ends[key>>16]
	return t.entries[max(from, end-min(end, longest)):end]
}

// find fills s with the rows that have one of the keys, at most limit+1 rows per key. A key of 0 is ignored.
func (x *rowIndex) find(s *lookup, keys []uint32, limit int) {
	x.live.find(s, keys, limit)
	if len(x.frozen) == 0 {
		return
	}
	base := x.frozenSize()
	for i := range s.hits {
		s.hits[i].row += base
	}
	first := base + x.evicted
	for i := len(x.frozen) - 1; i >= 0; i-- {
		first -= x.frozen[i].rows
		x.frozen[i].find(s, keys, limit, first, x.evicted)
	}
}

// find adds the rows of a table that have one of the keys to s. first is the number of rows in older tables, of which
// the first are evicted. It reads the places of all keys, then the beginning of all buckets, so that their cache misses
// overlap.
func (t *frozenTable) find(s *lookup, keys []uint32, limit int, first, evicted uint32) {
	s.buckets = s.buckets[:0]
	for _, key := range keys {
		s.buckets = append(s.buckets, t.bucket(key))
	}
	for _, bucket := range s.buckets {
		if n := len(bucket); n > 0 {
			s.touched += bucket[n-1]
		}
	}
	for i, key := range keys {
		if key == 0 {
			continue
		}
		bucket := s.buckets[i]
		for j := len(bucket) - 1; j >= 0 && s.counts[i] <= limit; j-- {
			if e := bucket[j]; (e^key)&0xffff == 0 {
				row := first + e>>16
				if row < evicted {
					break
				}
				s.counts[i]++
				s.hits = append(s.hits, hit{uint32(i), row - evicted})
			}
		}
	}
}

// frozenSize returns the number of rows in tables that are not evicted.
func (x *rowIndex) frozenSize() uint32 {
	rows := uint32(0)
	for _, t := range x.frozen {
		rows += t.rows
	}
	return rows - x.evicted
}

// add adds a row with at most width keys. A key of 0 is ignored.
func (x *rowIndex) add(keys []uint32) {
	x.live.add(keys)
	if x.live.size() == frozenRows*x.width {
		x.frozen = append(x.frozen, x.live.freeze())
		x.live = newLinearHash(int(x.width))
	}
	for n := len(x.frozen); n >= 2 && x.frozen[n-1].rows == x.frozen[n-2].rows && x.frozen[n-1].rows < maxFrozen; n-- {
		x.frozen[n-2] = x.frozen[n-2].merge(x.frozen[n-1])
		x.frozen = slices.Delete(x.frozen, n-1, n)
	}
}

// merge returns the rows of a table, then those of the next one. O(entries).
func (t frozenTable) merge(next frozenTable) frozenTable {
	both := frozenTable{rows: t.rows + next.rows, ends: make([]uint32, len(t.ends)), entries: make([]uint32, 0, len(t.entries)+len(next.entries))}
	from, nextFrom := uint32(0), uint32(0)
	for i := range t.ends {
		both.entries = append(both.entries, t.entries[from:t.ends[i]]...)
		for _, e := range next.entries[nextFrom:next.ends[i]] {
			both.entries = append(both.entries, e+t.rows<<16)
		}
		from, nextFrom = t.ends[i], next.ends[i]
		both.ends[i] = uint32(len(both.entries))
	}
	return both
}

// evictOldest removes the oldest row.
func (x *rowIndex) evictOldest() {
	if len(x.frozen) == 0 {
		x.live.evictOldest()
		return
	}
	if x.evicted++; x.evicted == x.frozen[0].rows {
		x.frozen[0] = frozenTable{}
		x.frozen, x.evicted = x.frozen[1:], 0
	}
}

// freeze returns the rows of the hash, which are at most frozenRows, as a table. O(keys).
func (c *linearHash) freeze() frozenTable {
	t := frozenTable{rows: c.size() / c.width, ends: make([]uint32, 1<<16)}
	keys := uint32(0)
	for at := c.first; at != c.next; at++ {
		if key := c.node(at).key; key != 0 {
			t.ends[key>>16]++
			keys++
		}
	}
	begin := uint32(0)
	for i, n := range t.ends {
		t.ends[i] = begin // moved to the end below
		begin += n
	}
	t.entries = make([]uint32, keys)
	for at := c.first; at != c.next; at++ {
		if key := c.node(at).key; key != 0 {
			end := &t.ends[key>>16]
			t.entries[*end] = (at-c.first)/c.width<<16 | key&0xffff
			*end++
		}
	}
	return t
}
