package policy

import (
	"math"
	"time"
)

// The guards around every policy.
const (
	maxInterval   = 24 * time.Hour
	firstTry      = 15 * time.Minute // longest interval of a feed that could not be read yet, but for failures
	maxRetryAfter = 7 * 24 * time.Hour
	longFailing   = 30 * 24 * time.Hour // from when on a failing feed is polled once a day
	jitter        = 0.05                // of the interval, either way
)

// settle returns the decision to poll a feed after an interval: later if it
// fails or its host asks for it, and at once if it is new.
func settle(interval time.Duration, why string, tier Tier, f *Feed, now time.Time, spread float64) Decision {
	if f.Polled.IsZero() {
		interval = min(interval, firstTry) // nothing is known that speaks for waiting
	}
	switch {
	case f.Polled.IsZero() && f.Failures == 0 && f.RetryAfter == 0:
		return Decision{Tier: tier, Next: now, Reason: "new: it was never polled"}
	case f.failsLong(now):
		interval, why = max(interval, maxInterval), "failing: for more than 30 days, polled once a day"
	case f.Failures > 0:
		longer := time.Duration(min(float64(interval)*(1+f.Failures), math.MaxInt64/2))
		interval = min(longer, max(interval, maxInterval))
		why = sentence("failing: ", span(interval), " after failures that count ", number(f.Failures))
	}
	interval += time.Duration(spread * jitter * float64(interval))
	if asked := min(f.RetryAfter, maxRetryAfter); asked > interval {
		interval, why = asked, sentence("Retry-After: its host asked to wait ", span(asked))
	}
	return Decision{Tier: tier, Next: now.Add(interval), Reason: why}
}

// failsLong reports whether a feed has failed for so long that it is polled
// once a day.
func (f *Feed) failsLong(now time.Time) bool {
	return f.Failures > 0 && !f.FailingSince.IsZero() && now.Sub(f.FailingSince) >= longFailing
}
