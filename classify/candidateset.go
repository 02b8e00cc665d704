package classify

import "math/bits"

// A candidateSet is a bitmap of the rules still to be evaluated, by rank.
type candidateSet []uint64

func (a candidateSet) add(rank int32) { a[rank/64] |= 1 << (rank % 64) }

// next removes and returns the first candidate whose rank is at least from, or returns -1. Evaluating a rule
// adds only candidates of a higher rank.
func (a candidateSet) next(from int32) int32 {
	for i := int(from / 64); i < len(a); i++ {
		if a[i] != 0 {
			bit := bits.TrailingZeros64(a[i])
			a[i] &^= 1 << bit
			return int32(i*64 + bit)
		}
	}
	return -1
}
