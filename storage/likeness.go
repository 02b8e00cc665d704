package storage

import (
	"maps"
	"math"
	"slices"
)

// Likeness returns the cosine of the words of a and of what b shares with it, over
// the length of all of b: 0 to 1. Each word has its weight, and how rare it is. Sums
// go by word in order, or equal items might differ in the last bit.
func Likeness(a, b, rarity map[string]float64) float64 {
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
