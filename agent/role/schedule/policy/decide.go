package policy

import (
	"math"
	"time"
)

// MaxWait is the longest time until a feed's next poll that any policy decides.
const MaxWait = maxRetryAfter

// Limits that apply to every policy.
const (
	maxInterval      = 24 * time.Hour
	maxFirstInterval = 15 * time.Minute // for feeds that were never read, before failures lengthen it
	maxRetryAfter    = 7 * 24 * time.Hour
	longFailing      = 30 * 24 * time.Hour // failing feeds are polled once a day after this time
	jitter           = 0.05                // part of the interval, either way
)

// decide turns an interval into a decision: due immediately if the feed is new, later if it fails or its host
// sent Retry-After.
func decide(interval time.Duration, reason string, tier Tier, f *Feed, now time.Time, spread float64) Decision {
	if f.Polled.IsZero() {
		interval = min(interval, maxFirstInterval) // no model supports a longer wait
	}
	switch {
	case f.Polled.IsZero() && f.Failures == 0 && f.RetryAfter == 0:
		return Decision{Tier: tier, Next: now, Reason: "new: never polled"}
	case f.failsLongTerm(now):
		interval, reason = max(interval, maxInterval), "failing: for more than 30 days, polled once a day"
	case f.Failures > 0:
		longer := time.Duration(min(float64(interval)*(1+f.Failures), math.MaxInt64/2))
		interval = min(longer, max(interval, maxInterval))
		reason = join("failing: ", durationText(interval), ", failure weight ", numberText(f.Failures))
	}
	interval += time.Duration(spread * jitter * float64(interval))
	if requested := min(f.RetryAfter, maxRetryAfter); requested > interval {
		interval, reason = requested, join("Retry-After: the host requested a wait of ", durationText(requested))
	}
	return Decision{Tier: tier, Next: now.Add(interval), Reason: reason}
}

// failsLongTerm reports whether a feed has failed for so long that it is polled once a day.
func (f *Feed) failsLongTerm(now time.Time) bool {
	return f.Failures > 0 && !f.FailingSince.IsZero() && now.Sub(f.FailingSince) >= longFailing
}
