package simulate

import "time"

// A Clock runs faster than the system clock, from Start on. A node that uses [Clock.Now] shares the time of
// the feeds.
type Clock struct {
	Speed float64 // simulated seconds in a real second
	Start time.Time
}

// Now returns the simulated time.
func (c Clock) Now() time.Time {
	return c.Start.Add(time.Duration(float64(time.Since(c.Start)) * c.Speed))
}
