package classify

import "math/bits"

// A branch is the edge from a tree node to its child by a stem.
type branch struct{ from, stem int32 }

// A branchFilter is a one-hash Bloom filter of branches: false positives occur, false negatives do not.
// Testing it first saves nearly all lookups in the map.
type branchFilter []uint64

func newBranchFilter(branches map[branch]int32) branchFilter {
	b := make(branchFilter, 1<<bits.Len(uint(len(branches)/8))) // 8 to 16 bits for each
	for of := range branches {
		b.add(of)
	}
	return b
}

func (b branchFilter) bit(of branch) (word, mask uint64) {
	hash := (uint64(uint32(of.from))<<32 | uint64(uint32(of.stem))) * 0x9E3779B97F4A7C15 >> 32
	return hash >> 6 & uint64(len(b)-1), 1 << (hash & 63)
}

func (b branchFilter) add(of branch) {
	word, mask := b.bit(of)
	b[word] |= mask
}

func (b branchFilter) has(of branch) bool {
	word, mask := b.bit(of)
	return b[word]&mask != 0
}
