package classify

import "math/bits"

// A branch leads from a node of the tree to the next, by a stem.
type branch struct{ from, stem int32 }

// A bitmap has a bit for each of some branches, which others may share. Asking it
// first saves nearly all searches in the map.
type bitmap []uint64

func newBitmap(branches map[branch]int32) bitmap {
	b := make(bitmap, 1<<bits.Len(uint(len(branches)/8))) // 8 to 16 bits for each
	for of := range branches {
		b.add(of)
	}
	return b
}

func (b bitmap) bit(of branch) (word, mask uint64) {
	hash := (uint64(uint32(of.from))<<32 | uint64(uint32(of.stem))) * 0x9E3779B97F4A7C15 >> 32
	return hash >> 6 & uint64(len(b)-1), 1 << (hash & 63)
}

func (b bitmap) add(of branch) {
	word, mask := b.bit(of)
	b[word] |= mask
}

func (b bitmap) has(of branch) bool {
	word, mask := b.bit(of)
	return b[word]&mask != 0
}
