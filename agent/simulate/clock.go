package simulate

import "time"

// A Clock runs faster than the real one since Start. Whoever shares it, as a node
// by [Clock.Now], agrees with the feeds on what time it is.
type Clock struct {
	Speed float64 // seconds it counts in a real one
	Start time.Time
}

// Now returns the time by this clock.
func (c Clock) Now() time.Time {
	return c.Start.Add(time.Duration(float64(time.Since(c.Start)) * c.Speed))
}
