package policy

// A census is what tiers have to know of all feeds.
type census struct {
	rates  []float64 // of those that no person chose
	pinned int       // those that one did
}

func (c *census) add(f *Feed, rate float64) {
	if f.Pinned {
		c.pinned++
	} else {
		c.rates = append(c.rates, rate)
	}
}
