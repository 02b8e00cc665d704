package eval

import (
	"hash/fnv"
	"math/bits"
)

// SimHash returns 64 bits that differ in few positions for texts with mostly the same words.
//
// Source: M. Charikar, Similarity estimation techniques from rounding algorithms, 2002; G. Manku and others,
// Detecting near-duplicates for web crawling, 2007: at most 3 bits.
func SimHash(words []string) (h uint64) {
	var sums [64]int
	for _, w := range words {
		x := mixed(w)
		for i := range sums {
			sums[i] += int(x>>i&1)*2 - 1
		}
	}
	for i, sum := range sums {
		if sum > 0 {
			h |= 1 << i
		}
	}
	return h
}

// HammingDistance returns the number of bits in which a and b differ.
func HammingDistance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// mixed returns a hash of a word: FNV-1a with the finalizer of MurmurHash3.
func mixed(word string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(word))
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
