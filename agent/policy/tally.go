package policy

import (
	"math"
	"time"
)

// Half-lives: the ages at which what was seen counts half.
const (
	recently = 14 * day
	usually  = 182 * day
)

// A tally is items and the days in which they came, each weighted by its age.
type tally struct{ items, days float32 }

// add counts items of an age in seconds.
func (t *tally) add(n int, age int64, halfLife time.Duration) {
	t.items += float32(float64(n) * weight(age, halfLife))
}

// after returns the tally when so many seconds more were watched, in which
// nothing came.
func (t tally) after(seconds int64, halfLife time.Duration) tally {
	kept := weight(max(0, seconds), halfLife)
	return tally{
		items: float32(float64(t.items) * kept),
		days:  float32(float64(t.days)*kept + memory(halfLife)*(1-kept)),
	}
}

// rate returns the mean rate, in items a day, of a Poisson process of which the
// tally was seen, where before it was thought to have the rate prior, for
// reasons worth so many days of watching: that of a Gamma distribution.
func (t tally) rate(prior, worth float64) float64 {
	return (prior*worth + float64(t.items)) / (worth + float64(t.days))
}

// sound reports whether a tally may be one that add and after made.
func (t tally) sound(halfLife time.Duration) bool {
	return t.items >= 0 && t.items <= math.MaxFloat32 && t.days >= 0 && float64(t.days) <= 2*memory(halfLife)
}

// weight returns what an item counts that is so many seconds old.
func weight(age int64, halfLife time.Duration) float64 {
	return math.Exp2(-float64(age) / halfLife.Seconds())
}

// memory returns how many days are in the tally of a feed that was watched for
// ever: the integral of the weights of all ages.
func memory(halfLife time.Duration) float64 {
	return halfLife.Hours() / 24 / math.Ln2
}

const (
	// priorWorth is how many days of watching the mean of all feeds is worth
	// against what was seen of one.
	priorWorth = 0.5

	// usualWorth is how many days of watching what is usual of a feed is worth
	// against what came recently: as many as a recent tally can hold, as feeds
	// fall silent for months and wake up again. With a quarter of it items wait
	// a tenth longer on recorded times.
	usualWorth = 20
)

// likely returns how many items a day are expected of a feed of which was seen
// what is recent and what is usual; prior is the mean of all feeds. A feed that
// is silent is expected to have less with every day, but not soon nothing.
func likely(recent, usual tally, prior float64) float64 {
	return recent.rate(usual.rate(prior, priorWorth), usualWorth)
}
