package classify

import "math/bits"

// An agenda is a set of candidates, by rank.
type agenda []uint64

func (a agenda) add(rank int32) { a[rank/64] |= 1 << (rank % 64) }

// next takes the first candidate from a rank on, or returns -1. Rules make only
// those candidates that come after them.
func (a agenda) next(from int32) int32 {
	for i := int(from / 64); i < len(a); i++ {
		if a[i] != 0 {
			bit := bits.TrailingZeros64(a[i])
			a[i] &^= 1 << bit
			return int32(i*64 + bit)
		}
	}
	return -1
}
