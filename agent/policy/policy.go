// Package policy decides when a feed is due, and why. It is pure: what it knows
// of a feed is in [Feed], and the time is an argument.
package policy

import (
	"fmt"
	"time"
)

// A Policy decides how often feeds are polled.
type Policy interface {
	// Tier returns the tier of a feed that has so many items a day; 0 if that
	// is not known.
	Tier(rate float64) Tier

	// Next decides when a feed that was just polled is due next. spread, drawn
	// between -1 and 1, moves it by up to 5 % of the interval, so that feeds
	// polled together do not stay together.
	Next(f Feed, now time.Time, spread float64) Decision
}

// A Tier is how often a feed is read; Hot is most often.
type Tier int

// The tiers.
const (
	Hot Tier = iota
	Warm
	Cold
)

// A Feed is what a decision looks at.
type Feed struct {
	Rate       float64       // items a day when it last brought any; 0 if unknown
	Silent     time.Duration // since then
	Failures   int           // polls failed since the last good one
	RetryAfter time.Duration // what its host asked for; 0 if nothing
}

// A Decision is when a feed is due next.
type Decision struct {
	Tier   Tier
	Next   time.Time
	Reason string // in words for a person
}

// The guards around every policy.
const (
	maxInterval = 24 * time.Hour
	jitter      = 0.05 // of the interval, either way
)

// after returns the decision to poll a feed after an interval: later if it fails
// or its host asks for it.
func after(interval time.Duration, why string, tier Tier, f Feed, now time.Time, spread float64) Decision {
	if f.Failures > 0 {
		interval = min(interval*time.Duration(1+f.Failures), max(interval, maxInterval))
		why = fmt.Sprintf("%v after %s in a row", interval, times(f.Failures, "failure"))
	}
	interval += time.Duration(spread * jitter * float64(interval))
	if f.RetryAfter > interval {
		interval, why = f.RetryAfter, fmt.Sprintf("its host asked to wait %v", f.RetryAfter)
	}
	return Decision{Tier: tier, Next: now.Add(interval), Reason: why}
}

func times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
