package policy

import "math"

// lossWorth is how long an item may be late before that is as bad as that it is
// lost.
const lossWorth = 7 * day

// worth returns how many times the delay of the items of a feed is worth that
// of others, at least 1: where its document is short for its bursts, as one that
// comes before another is read pushes it out.
//
// Bursts are taken to come at random and to have sizes that are distributed
// exponentially with a mean of s. Of two of them between polls the second pushes
// out s·(1+k)·exp(-k) items of the first, for k = window/s. In an interval x the
// items wait rate·x²/2 in all, and there are two bursts with a probability of
// (x·rate/s)²/2: as both grow with x², losses count as so much more delay.
func worth(rate, burst float64, window int) float64 {
	if window <= 0 {
		return 1
	}
	size := burst / 2 // burst is the mean size as items see it
	k := float64(window) / size
	return 1 + lossWorth.Hours()/24*rate/size*(1+k)*math.Exp(-k)
}
