package simulate

import (
	"math"
	"math/rand/v2"
)

// The distribution of rates: of 100 feeds, the busy 17 publish 97 of 100 items. Rates fall geometrically,
// from the busiest feed to the last of the busy group, and from there to the quietest.
//
// Source: Z. Hmedeh and others, Characterizing web syndication behavior and content, 2011: 17 % of the feeds
// gave 97 % of the items.
const (
	busyShare   = 0.17
	busySpread  = 112 // ratio of the busiest feed's rate to that of the last busy feed
	quietSpread = 740 // ratio of the last busy feed's rate to the quietest's
)

// rates returns the rates of n feeds in items a day, in an order that depends on the seed, with a given mean.
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

// unevenness returns the relative rate of the feed at a rank, given as a share of all feeds; the last busy
// feed has 1.
func unevenness(share float64) float64 {
	if share < busyShare {
		return math.Pow(busySpread, 1-share/busyShare)
	}
	return math.Pow(quietSpread, -(share-busyShare)/(1-busyShare))
}

// draw returns an evenly distributed pseudorandom number that depends on its arguments only.
//
// Source: G. Steele and others, Fast splittable pseudorandom number generators, 2014 (SplitMix64).
func draw(seed uint64, of ...uint64) uint64 {
	for _, n := range of {
		seed = (seed ^ n) + 0x9e3779b97f4a7c15
		seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		seed = (seed ^ seed>>27) * 0x94d049bb133111eb
		seed ^= seed >> 31
	}
	return seed
}

// unit converts a drawn number to the range from 0 to 1, without 1.
func unit(drawn uint64) float64 { return float64(drawn>>11) / (1 << 53) }
