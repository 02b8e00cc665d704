package policy

import (
	"fmt"
	"time"
)

// Uniform polls all feeds at one interval, whatever they publish.
type Uniform time.Duration

// Tier returns the one tier of all feeds.
func (Uniform) Tier(float64) Tier { return Warm }

// Next decides when a feed is due next.
func (u Uniform) Next(f Feed, now time.Time, spread float64) Decision {
	every := time.Duration(u)
	return after(every, fmt.Sprintf("every %v, as all feeds", every), Warm, f, now, spread)
}
