package near

// An encoded is a value with a form of constant size in files.
type encoded[T any] interface {
	*T
	append(to []byte) []byte
	decode(from []byte)
	encodedSize() int
}

// blocks are a queue of values in blocks of perBlock, of which the older ones are in files.
type blocks[T any, P encoded[T]] struct {
	blocks []block[T]
	head   uint32 // index of the oldest value in the first block
	len    uint32
	read   T      // the last value that was read from a file
	readAt uint32 // 1 more than its index from head, 0 if there is none
}

// A block contains perBlock values, in memory or in a file.
type block[T any] struct {
	values []T
	place
}

// at returns the value with an index from the oldest, valid until the next call. It must not be changed.
func (r *blocks[T, P]) at(i uint32, s *spill) P {
	i += r.head
	b := &r.blocks[i/perBlock]
	if b.values != nil {
		return &b.values[i%perBlock]
	}
	var buffer [128]byte
	read := P(&r.read)
	if r.readAt == i+1 {
		return read
	}
	size := read.encodedSize()
	bytes := append(buffer[:0], make([]byte, size)...)
	s.read(b.place, int(i%perBlock)*size, bytes)
	read.decode(bytes)
	r.readAt = i + 1
	return read
}

// set replaces a value.
func (r *blocks[T, P]) set(i uint32, v T, s *spill) {
	i += r.head
	b := &r.blocks[i/perBlock]
	r.readAt = 0
	if b.values == nil {
		encoded := P(&v).append(nil)
		if s.overwrite(b.place, int(i%perBlock)*len(encoded), encoded) {
			return
		}
		r.load(b, s)
	}
	b.values[i%perBlock] = v
}

// load moves a block from its file to memory.
func (r *blocks[T, P]) load(b *block[T], s *spill) {
	bytes := make([]byte, b.size)
	s.read(b.place, 0, bytes)
	b.values = make([]T, perBlock)
	for i := range b.values {
		v := P(&b.values[i])
		v.decode(bytes[i*v.encodedSize():])
	}
	s.evict(&b.place)
}

// push appends a value.
func (r *blocks[T, P]) push(v T, s *spill) {
	if (r.head+r.len)/perBlock == uint32(len(r.blocks)) {
		r.blocks = append(r.blocks, block[T]{values: make([]T, perBlock)})
		if n := len(r.blocks) - 1 - residentBlocks; n >= 0 && r.blocks[n].values != nil {
			r.spill(&r.blocks[n], s)
		}
	}
	i := r.head + r.len
	r.blocks[i/perBlock].values[i%perBlock] = v
	r.len++
}

// spill moves a block to a file.
func (r *blocks[T, P]) spill(b *block[T], s *spill) {
	if s.newFile == nil {
		return
	}
	bytes := make([]byte, 0, perBlock*P(&r.read).encodedSize())
	for i := range b.values {
		bytes = P(&b.values[i]).append(bytes)
	}
	if b.place = s.write(bytes); b.file != nil {
		b.values = nil
	}
}

// pop removes the oldest value.
func (r *blocks[T, P]) pop(s *spill) {
	r.len--
	if r.head++; r.head == perBlock {
		s.evict(&r.blocks[0].place)
		r.blocks[0] = block[T]{}
		r.readAt = 0
		r.blocks, r.head = r.blocks[1:], 0
	}
}

// close removes all blocks from their files.
func (r *blocks[T, P]) close(s *spill) {
	for i := range r.blocks {
		s.evict(&r.blocks[i].place)
	}
}
