// Package policy decides when a feed is due, and why. It is pure: what it knows
// of a feed is in [Feed], and the time is an argument.
package policy

import (
	"iter"
	"time"
)

// A Policy decides how often feeds are polled. Its methods must not be called
// concurrently.
type Policy interface {
	// Next decides when a feed that was just polled (or, new, never was) is due
	// next. spread, drawn between -1 and 1, moves it by up to 5 % of the
	// interval, so that feeds polled together do not stay together.
	Next(f *Feed, now time.Time, spread float64) Decision

	// Fit brings the policy in line with all the feeds there are: the lines
	// between tiers, the price, the profile of them all. To be called at the
	// start and every few minutes. It iterates once and keeps no feed.
	Fit(feeds iter.Seq[*Feed], now time.Time)

	// Spent tells how many polls were made since it was told last: what keeps
	// the price to the budget.
	Spent(polls int, now time.Time)
}

// Kinds of policies.
const (
	KindPrice   = "price"
	KindTiers   = "tiers"
	KindUniform = "uniform"
)

// Settings choose a policy. The zero value is the default one.
type Settings struct {
	Kind     string        // KindPrice, KindTiers or KindUniform; "" is KindPrice
	Interval time.Duration // of uniform; 0 is 10 min
	Budget   float64       // requests a second that price spends, as the mean of a day; 0: as many as tiers would
	Floor    time.Duration // least interval of price; 0 is 2 min
	Tiers    TierSettings  // zero value: the source's numbers
}

// New returns the policy of valid settings: those whose kind is known and whose
// numbers are not negative.
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

// A Feed is what a decision looks at.
type Feed struct {
	Model        Model
	Pinned       bool          // a person wants it hot
	Polled       time.Time     // last successful poll: until then all of it is known; zero if never
	Failures     float64       // in a row, weighted: temporary 0.25, soft 0.5, hard 1
	FailingSince time.Time     // zero if it does not fail
	RetryAfter   time.Duration // what its host asked for at the last poll; 0 if nothing
	MaxAge       time.Duration // Cache-Control or Expires of the last answer; 0 if none
	Hints        Hints         // what its document says
	Pushed       float64       // trust in its hub's pushes, 0 (none) to 1
	Window       int           // entries its document shows; 0 unknown
	Heavy        bool          // larger than 200 kB and never answers 304
}

// known returns until when all of the feed is known: now, if it does not say.
func (f *Feed) known(now time.Time) time.Time {
	if f.Polled.IsZero() || f.Polled.After(now) {
		return now
	}
	return f.Polled
}

// Hints are what a document says of when to read it.
type Hints struct {
	TTL       time.Duration // ttl
	Period    time.Duration // sy:updatePeriod / sy:updateFrequency
	SkipHours uint32        // bit h: hour h, UTC
	SkipDays  uint8         // bit d: time.Weekday d, UTC
}

// A Decision is when a feed is due next.
type Decision struct {
	Tier   Tier // lane of the queues
	Next   time.Time
	Reason string // in words for a person, its name first: "price: 2.3 items a day, ..."
}

// A Tier is how often a feed is read; Hot is most often.
type Tier int

// The tiers.
const (
	Hot Tier = iota
	Warm
	Cold
)
