package policy

import (
	"math"
	"time"
)

// Half-lives of observations: the age at which an observation counts half.
const (
	recentHalfLife   = 14 * day
	longTermHalfLife = 182 * day
)

// A decayedCount holds items and the days in which they were published, each weighted by age.
type decayedCount struct{ items, days float32 }

// add counts n items of an age in seconds.
func (t *decayedCount) add(n int, age int64, halfLife time.Duration) {
	t.items += float32(float64(n) * weight(age, halfLife))
}

// decayed returns the count after further seconds of observation without items.
func (t decayedCount) decayed(seconds int64, halfLife time.Duration) decayedCount {
	kept := weight(max(0, seconds), halfLife)
	return decayedCount{
		items: float32(float64(t.items) * kept),
		days:  float32(float64(t.days)*kept + maxWatchedDays(halfLife)*(1-kept)),
	}
}

// rate estimates the rate in items a day of a Poisson process from the count: the posterior mean for a Gamma
// prior of mean prior with the weight of worth days of observation.
func (t decayedCount) rate(prior, worth float64) float64 {
	return (prior*worth + float64(t.items)) / (worth + float64(t.days))
}

// valid reports whether add and decayed can have produced the count.
func (t decayedCount) valid(halfLife time.Duration) bool {
	return t.items >= 0 && t.items <= math.MaxFloat32 && t.days >= 0 && float64(t.days) <= 2*maxWatchedDays(halfLife)
}

// weight returns the weight of an item of an age in seconds.
func weight(age int64, halfLife time.Duration) float64 {
	return math.Exp2(-float64(age) / halfLife.Seconds())
}

// maxWatchedDays returns the days of a feed that was observed forever: the integral of the weights of all
// ages.
func maxWatchedDays(halfLife time.Duration) float64 {
	return halfLife.Hours() / 24 / math.Ln2
}

const (
	// priorWorth is the weight of the mean rate of all feeds, in days of observation, against a feed's own
	// long-term rate.
	priorWorth = 0.5

	// longTermWorth is the weight of a feed's long-term rate against its recent rate, in days of observation:
	// as many as a recent count can hold, because feeds pause for months and resume. With a quarter of it
	// items wait a tenth longer on recorded times.
	longTermWorth = 20
)

// expectedRate returns the expected rate in items a day; prior is the mean of all feeds. The estimate of a
// silent feed falls with each day, but slowly towards 0.
func expectedRate(recent, usual decayedCount, prior float64) float64 {
	return recent.rate(usual.rate(prior, priorWorth), longTermWorth)
}
