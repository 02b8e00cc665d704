package policy

import "math"

// lossDelay is the delay that counts as much as the loss of an item.
const lossDelay = 7 * day

// lossFactor returns the weight of the delay of a feed's items, at least 1. It is larger if the feed's
// document is short for its bursts, because a second burst between polls pushes out items of the first.
//
// The model: bursts arrive at random, with exponentially distributed sizes of mean s. Of two bursts between
// polls the second pushes out s·(1+k)·exp(-k) items of the first, for k = window/s. In an interval x the
// items wait rate·x²/2 in total, and two bursts arrive with a probability of (x·rate/s)²/2. Both grow
// with x², so losses count as additional delay.
func lossFactor(rate, burst float64, window int) float64 {
	if window <= 0 {
		return 1
	}
	size := burst / 2 // burst is the mean size weighted by items
	k := float64(window) / size
	return 1 + lossDelay.Hours()/24*rate/size*(1+k)*math.Exp(-k)
}
