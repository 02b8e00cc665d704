package near

// A linearHash maps keys to rows with up to width keys each. It grows by one bucket at a time (linear
// hashing), which avoids the pause of a full rehash. Eviction of the oldest row is free: a chain leads from
// newer nodes to older ones, so all nodes behind an evicted node are evicted too.
//
// Nodes are numbered from 0 in row order, modulo 2^32. After a wrap-around a stale number is recognized by
// the node's key or age.
//
// Source: W. Litwin, Linear hashing: a new tool for file and table addressing, 1980.
type linearHash struct {
	width uint32
	heads [][]uint32 // blocks of chain heads: the newest node of each chain
	count uint32     // heads in use
	level uint32     // greatest power of two <= count

	blocks      []*[nodesPerBlock]node // a ring buffer, by number / nodesPerBlock
	first, next uint32                 // numbers of the oldest and of the next node
}

// A node is one key of a row.
type node struct {
	key   uint32
	older uint32 // next node of the chain
}

const (
	nodesPerBlock = 1 << 11
	headsPerBlock = 1 << 11
	load          = 1    // nodes per head
	longest       = 2000 // maximum nodes of a chain that are visited
)

// newLinearHash returns an empty hash of rows with width keys each, a power of two.
func newLinearHash(width int) *linearHash {
	return &linearHash{
		width: uint32(width), heads: [][]uint32{make([]uint32, headsPerBlock)}, count: 1, level: 1,
		blocks: make([]*[nodesPerBlock]node, 1), first: nodesPerBlock, next: nodesPerBlock,
	}
}

// size returns the number of nodes that are not evicted.
func (c *linearHash) size() uint32 { return c.next - c.first }

func (c *linearHash) has(number uint32) bool { return number-c.first < c.next-c.first }

func (c *linearHash) node(number uint32) *node {
	return &c.blocks[number/nodesPerBlock&uint32(len(c.blocks)-1)][number%nodesPerBlock]
}

// head returns a pointer to the head of a key's chain.
func (c *linearHash) head(key uint32) *uint32 {
	i := key & (2*c.level - 1)
	if i >= c.count {
		i = key & (c.level - 1)
	}
	return &c.heads[i/headsPerBlock][i%headsPerBlock]
}

// each calls yield with the rows that have a key, newest first, until it returns false. A row is identified
// by the number of older rows.
func (c *linearHash) each(key uint32, yield func(row uint32) bool) {
	at, newer := *c.head(key), c.next
	for range longest {
		if !c.follows(at, newer) {
			return
		}
		n := c.node(at)
		if n.key == key && !yield((at-c.first)/c.width) {
			return
		}
		at, newer = n.older, at
	}
}

// follows reports whether node at is present and older than newer.
func (c *linearHash) follows(at, newer uint32) bool { return c.has(at) && at-c.first < newer-c.first }

// A lookup contains the rows that share keys. Its buffers are reused.
type lookup struct {
	hits   []hit
	counts []int // hits of each key
	at     []uint32
	newer  []uint32

	buckets [][]uint32 // of the keys, in a frozen table
	touched uint32     // a sink that keeps the compiler from removing reads
}

type hit struct{ key, row uint32 } // key is an index into the keys

// find fills s with the rows that have one of the keys, at most limit+1 rows per key. A key of 0 is ignored.
// All chains are walked in step, so that their cache misses overlap: at a million rows each step of a chain
// waits for memory.
func (c *linearHash) find(s *lookup, keys []uint32, limit int) {
	s.hits, s.counts, s.at, s.newer = s.hits[:0], s.counts[:0], s.at[:0], s.newer[:0]
	for _, k := range keys {
		at := c.first - 1
		if k != 0 {
			at = *c.head(k)
		}
		s.at, s.newer, s.counts = append(s.at, at), append(s.newer, c.next), append(s.counts, 0)
	}
	for step, more := 0, true; more && step < longest; step++ {
		more = false
		for i, at := range s.at {
			if !c.follows(at, s.newer[i]) || s.counts[i] > limit {
				continue
			}
			n := c.node(at)
			if n.key == keys[i] {
				s.counts[i]++
				s.hits = append(s.hits, hit{uint32(i), (at - c.first) / c.width})
			}
			s.at[i], s.newer[i] = n.older, at
			more = true
		}
	}
}

// add adds a row with at most width keys. A key of 0 is ignored.
func (c *linearHash) add(keys []uint32) {
	for i := range c.width {
		if c.next%nodesPerBlock == 0 {
			c.addBlock()
		}
		at := c.next
		c.next++
		n := c.node(at)
		*n = node{}
		if int(i) >= len(keys) || keys[i] == 0 {
			continue
		}
		head := c.head(keys[i])
		*n = node{keys[i], *head}
		*head = at
	}
	c.grow()
}

// grow adds heads up to the load factor. It first walks the chains to split in step, to overlap cache misses
// as find does.
func (c *linearHash) grow() {
	if c.size() <= load*c.count {
		return
	}
	var at [64]uint32
	short := min((c.size()-load*c.count+load-1)/load, 2*c.level-c.count, uint32(len(at)))
	for i := range short {
		from := c.count - c.level + i
		at[i] = c.heads[from/headsPerBlock][from%headsPerBlock]
	}
	for range 3 {
		for i, number := range at[:short] {
			if c.has(number) {
				at[i] = c.node(number).older
			}
		}
	}
	for c.size() > load*c.count {
		c.split()
	}
}

// addBlock allocates the block in which the next node begins.
func (c *linearHash) addBlock() {
	oldest, number := c.first/nodesPerBlock, c.next/nodesPerBlock
	const numbers = (1 << 32) / nodesPerBlock
	if used := (number - oldest) % numbers; used >= uint32(len(c.blocks)) {
		ring := make([]*[nodesPerBlock]node, 2*len(c.blocks))
		for i := range used {
			b := oldest + i
			ring[b&uint32(len(ring)-1)] = c.blocks[b&uint32(len(c.blocks)-1)]
		}
		c.blocks = ring
	}
	place := &c.blocks[number&uint32(len(c.blocks)-1)]
	if *place == nil {
		*place = new([nodesPerBlock]node)
	}
}

// evictOldest removes the oldest row.
func (c *linearHash) evictOldest() {
	block := c.first / nodesPerBlock
	c.first += c.width
	if c.first/nodesPerBlock != block {
		c.blocks[block&uint32(len(c.blocks)-1)] = nil
	}
}

// split adds a head and moves to it the nodes of the old chain whose keys belong there.
func (c *linearHash) split() {
	if c.count == 2*c.level {
		c.level = c.count
	}
	from := c.count - c.level
	if c.count%headsPerBlock == 0 {
		c.heads = append(c.heads, make([]uint32, headsPerBlock))
	}
	low := &c.heads[from/headsPerBlock][from%headsPerBlock]
	high := &c.heads[c.count/headsPerBlock][c.count%headsPerBlock]
	at, newer := *low, c.next
	*low, *high = c.first-1, c.first-1 // not present: the end of a chain
	c.count++
	for c.follows(at, newer) {
		n := c.node(at)
		end := &low
		if n.key&c.level != 0 {
			end = &high
		}
		**end = at
		*end = &n.older
		at, newer = n.older, at
	}
	*low, *high = c.first-1, c.first-1
}
