package near

// chains finds rows by keys, of which each row has up to width. It grows by a head
// at a time (linear hashing), so that no row waits for a rehash, and forgets the
// oldest rows at no cost: a chain leads from newer nodes to older ones, so what
// comes behind a forgotten node is forgotten too.
//
// Nodes are numbered from 0 on, row by row, modulo 2^32. A number that stands for
// another node after so many is found out by its key or its age.
//
// Source: W. Litwin, Linear hashing: a new tool for file and table addressing, 1980.
type chains struct {
	width uint32
	heads [][]uint32 // blocks of the newest node of each chain
	count uint32     // heads in use
	level uint32     // the power of two that is at most count

	blocks      []*[nodesPerBlock]node // a ring, by number / nodesPerBlock
	first, next uint32                 // numbers of the oldest node and of the one to come
}

// A node is one key of a row.
type node struct {
	key   uint32
	older uint32 // the next node of the chain
}

const (
	nodesPerBlock = 1 << 14
	headsPerBlock = 1 << 14
	load          = 1    // nodes for each head
	longest       = 2000 // nodes of a chain that are looked at
)

// newChains returns empty chains of rows with a number of keys that is a power of
// two.
func newChains(width int) *chains {
	return &chains{
		width: uint32(width), heads: [][]uint32{make([]uint32, headsPerBlock)}, count: 1, level: 1,
		blocks: make([]*[nodesPerBlock]node, 1), first: nodesPerBlock, next: nodesPerBlock,
	}
}

// live returns the number of nodes that are not forgotten.
func (c *chains) live() uint32 { return c.next - c.first }

func (c *chains) has(number uint32) bool { return number-c.first < c.next-c.first }

func (c *chains) node(number uint32) *node {
	return &c.blocks[number/nodesPerBlock&uint32(len(c.blocks)-1)][number%nodesPerBlock]
}

// head returns the place of the head of a key's chain.
func (c *chains) head(key uint32) *uint32 {
	i := key & (2*c.level - 1)
	if i >= c.count {
		i = key & (c.level - 1)
	}
	return &c.heads[i/headsPerBlock][i%headsPerBlock]
}

// each calls yield with the rows that have a key, newest first, until it returns
// false. A row is told by how many that are remembered came before it.
func (c *chains) each(key uint32, yield func(row uint32) bool) {
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

// follows reports whether a node that another leads to is remembered, and older.
func (c *chains) follows(at, newer uint32) bool { return c.has(at) && at-c.first < newer-c.first }

// A search is the rows that share keys. It is kept to be used again.
type search struct {
	hits   []hit
	counts []int // of the hits of each key
	at     []uint32
	newer  []uint32
}

type hit struct{ key, row uint32 } // the place of the key

// find makes s the rows that have one of the keys, at most one more than limit
// for each. Keys of 0 are none. All chains are walked in step: at a million rows
// each step of one chain waits for memory, and so they wait together.
func (c *chains) find(s *search, keys []uint32, limit int) {
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

// add adds a row with at most width keys. A key of 0 is none.
func (c *chains) add(keys []uint32) {
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

// grow adds heads until there are enough. The chains that it splits are walked in
// step before, for the reason that find gives.
func (c *chains) grow() {
	if c.live() <= load*c.count {
		return
	}
	var at [64]uint32
	short := min((c.live()-load*c.count+load-1)/load, 2*c.level-c.count, uint32(len(at)))
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
	for c.live() > load*c.count {
		c.split()
	}
}

// addBlock makes room for the block that the next node begins.
func (c *chains) addBlock() {
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

// forget forgets the oldest row.
func (c *chains) forget() {
	block := c.first / nodesPerBlock
	c.first += c.width
	if c.first/nodesPerBlock != block {
		c.blocks[block&uint32(len(c.blocks)-1)] = nil
	}
}

// split adds a head and deals to it the nodes of the chain that its keys were in.
func (c *chains) split() {
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
	*low, *high = c.first-1, c.first-1 // not live: the end of a chain
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
