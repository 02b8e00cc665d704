package policy

// rateStats holds the rates of all feeds, from which tiers computes its thresholds.
type rateStats struct {
	rates  []float64 // items a day, of feeds that are not pinned
	pinned int       // number of pinned feeds
}

func (c *rateStats) add(f *Feed, rate float64) {
	if f.Pinned {
		c.pinned++
	} else {
		c.rates = append(c.rates, rate)
	}
}
