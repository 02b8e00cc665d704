package storage

import (
	"maps"
	"math"
	"slices"
)

// Similarity returns the cosine of the weighted words of a and their matches in b, normalized by the length
// of all of b: 0 to 1. Each word has its weight, multiplied by its rarity. Sums are computed in word order,
// because floating-point sums of equal items could otherwise differ in the last bit.
func Similarity(a, b, rarity map[string]float64) float64 {
	shared, ofA, ofB := 0.0, 0.0, 0.0
	for _, word := range slices.Sorted(maps.Keys(a)) {
		x, y := a[word]*rarity[word], b[word]*rarity[word]
		shared, ofA = shared+x*y, ofA+x*x
	}
	for _, word := range slices.Sorted(maps.Keys(b)) {
		y := b[word] * max(rarity[word], 1)
		ofB += y * y
	}
	if shared == 0 {
		return 0
	}
	return shared / math.Sqrt(ofA*ofB)
}
