// Package policy decides when a feed is polled next, and why. A [Policy] turns a [Feed] into a [Decision]; a
// [Model] estimates a feed's publishing rate and times. The package is pure: all inputs are arguments,
// including the time.
package policy

import (
	"iter"
	"time"
)

// A Policy decides how often feeds are polled. Its methods must not be called concurrently.
type Policy interface {
	// Next decides when a feed that was just polled, or is new, is due next. spread, a random number between
	// -1 and 1, moves the time by up to 5 % of the interval, so that feeds polled together do not stay
	// together.
	Next(f *Feed, now time.Time, spread float64) Decision

	// Recalibrate adapts the policy to all feeds: the thresholds of tiers, the price and the average habits.
	// Call it at the start and every few minutes. It iterates once and does not retain feeds.
	Recalibrate(feeds iter.Seq[*Feed], now time.Time)

	// RecordPolls reports the polls made since the last call. The price policy uses it to keep to its budget.
	RecordPolls(polls int, now time.Time)

	// SetBudget changes the budget of [Settings]. It takes effect with the next Recalibrate.
	SetBudget(budget float64)
}

// Kinds of policies.
const (
	KindPrice   = "price"
	KindTiers   = "tiers"
	KindUniform = "uniform"
)

// Settings select and configure a policy. The zero value is the default.
type Settings struct {
	Kind     string        // KindPrice, KindTiers or KindUniform; "" is KindPrice
	Interval time.Duration // of uniform; 0 is 10 min
	Budget   float64       // requests a second of the price policy, mean over a day; 0: as many as the tiers policy makes
	Floor    time.Duration // minimum interval of the price policy; 0 is 2 min
	Tiers    TierSettings  // zero value: the source's numbers
}

// New returns the policy for valid settings: a kind of the constants above (or "") and no negative numbers.
func New(s Settings) Policy {
	switch s.Kind {
	case KindTiers:
		return newTiers(s.Tiers)
	case KindUniform:
		if s.Interval == 0 {
			s.Interval = defaultInterval
		}
		return uniform(s.Interval)
	}
	return newPrice(s)
}

// A Feed contains the inputs of a decision.
type Feed struct {
	Model        Model
	Pinned       bool          // by a user: polled as often as a hot feed
	Polled       time.Time     // last successful poll, up to which the model is complete; zero if never
	Failures     float64       // consecutive, weighted: temporary 0.25, soft 0.5, hard 1
	FailingSince time.Time     // zero if it does not fail
	RetryAfter   time.Duration // of the last response; 0 if none
	MaxAge       time.Duration // Cache-Control or Expires of the last response; 0 if none
	Hints        Hints         // of its document
	Pushed       float64       // trust in its hub's pushes, 0 (none) to 1
	Window       int           // entries in its document; 0 if not measured
	Heavy        bool          // larger than 200 kB and never answers 304
}

// completeUntil returns the time up to which the feed's items were read: its last poll, or now if it has
// none.
func (f *Feed) completeUntil(now time.Time) time.Time {
	if f.Polled.IsZero() || f.Polled.After(now) {
		return now
	}
	return f.Polled
}

// Hints are the polling hints of a feed's document.
type Hints struct {
	TTL       time.Duration // ttl
	Period    time.Duration // sy:updatePeriod / sy:updateFrequency
	SkipHours uint32        // bit h: hour h, UTC
	SkipDays  uint8         // bit d: time.Weekday d, UTC
}

// A Decision states when a feed is due next.
type Decision struct {
	Tier   Tier // selects the crawl queue
	Next   time.Time
	Reason string // for users, the rule's name first: "price: 2.3 items a day, ..."
}

// A Tier classifies feeds by polling frequency; Hot is polled most often.
type Tier int

// The tiers.
const (
	Hot Tier = iota
	Warm
	Cold
)
