package simulate

import (
	"math"
	"math/rand/v2"
)

// How uneven feeds are: of 100, the busy 17 publish 97 of 100 items. Rates fall
// geometrically, from the busiest to the last of the busy ones, and from there to
// the quietest.
//
// Source: Z. Hmedeh and others, Characterizing web syndication behavior and
// content, 2011: 17 % of the feeds gave 97 % of the items.
const (
	busyShare   = 0.17
	busySpread  = 112 // the rate of the busiest, in rates of the last busy one
	quietSpread = 740 // that one's, in rates of the quietest
)

// rates returns how many items a day each of n feeds publishes, in an order that
// the seed decides. Their mean is as given.
func rates(n int, mean float64, seed uint64) []float64 {
	all, sum := make([]float64, n), 0.0
	for rank, i := range rand.New(rand.NewPCG(seed, 1)).Perm(n) {
		all[i] = unevenness((float64(rank) + 0.5) / float64(n))
		sum += all[i]
	}
	for i := range all {
		all[i] *= mean * float64(n) / sum
	}
	return all
}

// unevenness returns the rate of the feed that this share of all feeds surpasses,
// in rates of the last busy one.
func unevenness(share float64) float64 {
	if share < busyShare {
		return math.Pow(busySpread, 1-share/busyShare)
	}
	return math.Pow(quietSpread, -(share-busyShare)/(1-busyShare))
}

// draw returns a number that only its arguments decide, evenly spread.
//
// Source: G. Steele and others, Fast splittable pseudorandom number generators,
// 2014 (SplitMix64).
func draw(seed uint64, of ...uint64) uint64 {
	for _, n := range of {
		seed = (seed ^ n) + 0x9e3779b97f4a7c15
		seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		seed = (seed ^ seed>>27) * 0x94d049bb133111eb
		seed ^= seed >> 31
	}
	return seed
}

// unit makes of a drawn number one from 0 to 1, without 1.
func unit(drawn uint64) float64 { return float64(drawn>>11) / (1 << 53) }
