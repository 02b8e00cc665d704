package near

// A ring is a queue of values with access by index from the oldest. It allocates blocks and no single values,
// which keeps garbage collection cheap.
type ring[T any] struct {
	blocks [][]T
	head   uint32 // index of the oldest value in the first block
	len    uint32
}

const perBlock = 1 << 10

func (r *ring[T]) at(i uint32) *T {
	i += r.head
	return &r.blocks[i/perBlock][i%perBlock]
}

// push appends a value and returns its address.
func (r *ring[T]) push(v T) *T {
	if (r.head+r.len)/perBlock == uint32(len(r.blocks)) {
		r.blocks = append(r.blocks, make([]T, perBlock))
	}
	r.len++
	place := r.at(r.len - 1)
	*place = v
	return place
}

// pop removes the oldest value.
func (r *ring[T]) pop() {
	var none T
	*r.at(0) = none
	r.len--
	if r.head++; r.head == perBlock {
		r.blocks[0] = nil
		r.blocks, r.head = r.blocks[1:], 0
	}
}
