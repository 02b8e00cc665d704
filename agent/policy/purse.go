package policy

import (
	"math"
	"time"
)

const (
	spentMemory = 20 * time.Minute // over which spending is compared with the plan
	correction  = 2 * time.Hour    // in which a lasting difference is made good
	rootOf      = 2                // polls go as the inverse root of the price
	maxSilence  = 10 * time.Minute // after which what was spent is not known
	maxError    = 0.25             // of a difference that is believed, as a logarithm
	maxLearnt   = 1.0              // that an hour differs from what was foreseen, as a logarithm
	maxCorrect  = 4.0              // of the price, either way, as a logarithm
	learnHour   = 1.0              // of what was spent beside an hour's share is expected there the next day
)

// A purse holds the price to the budget. Fit finds the price for which all
// feeds together would spend the budget, if they are as they are thought to be.
// As they are not, spent compares what is spent with the plan, and slowly
// corrects the price: a feed feels a new price only at its next poll.
//
// The budget is the mean of a day: at one price polls gather where items do, so
// each hour of the day has its share of it. Fit foresees the shares by the
// habits of all feeds together; from what is spent in an hour the purse learns
// what comes of each feed's own.
type purse struct {
	budget float64     // requests a second
	price  float64     // that Fit found, seconds of delay of all items of a feed together
	skew   float64     // correction of the price, as a logarithm
	shares [24]float64 // of the hours, UTC, that Fit foresaw; their mean is 1
	learnt [24]float64 // what the shares turned out to be besides, as logarithms
	plan   [24]float64 // of both, requests a second

	at     time.Time // when it was told last
	lately spending  // until then, what is long ago forgotten
	hour   spending  // since the hour began
	whole  bool      // the hour was watched from its beginning
}

// defaultPrice is the price until the first Fit: with it a feed that has ten
// items a day is polled every half an hour.
const defaultPrice = 180

func newPurse() purse {
	p := purse{price: defaultPrice}
	for i := range p.shares {
		p.shares[i] = 1
	}
	return p
}

// nu returns the price at present: what was found to be right in the long run,
// and at once a higher one while more is spent than planned.
func (p *purse) nu() float64 {
	if p.lately.planned < 1 {
		return p.price * math.Exp(p.skew)
	}
	return p.price * math.Exp(p.skew+rootOf*p.lately.over())
}

// draw draws the plan of the day.
func (p *purse) draw() {
	for hour, share := range p.shares {
		p.plan[hour] = share * math.Exp(p.learnt[hour])
	}
	level(p.plan[:])
	for hour := range p.plan {
		p.plan[hour] *= p.budget
	}
}

// spent corrects the price by polls that were made since it was told last.
func (p *purse) spent(polls int, now time.Time) {
	since := now.Sub(p.at)
	switch {
	case !p.at.IsZero() && since <= 0:
		return
	case p.at.IsZero() || since > maxSilence:
		// Of the time before nothing is known.
		p.at, p.lately, p.hour, p.whole = now, spending{}, spending{}, false
		return
	}
	planned := p.plan[now.UTC().Hour()] * since.Seconds()
	if now.UTC().Hour() != p.at.UTC().Hour() {
		p.learn(p.at.UTC().Hour())
	}
	p.at = now
	p.hour.add(1, planned, polls)
	p.lately.add(math.Exp(-since.Seconds()/spentMemory.Seconds()), planned, polls)
	if p.lately.planned >= 1 {
		correct := rootOf * p.lately.over() * since.Seconds() / correction.Seconds()
		p.skew = min(max(p.skew+correct, -maxCorrect), maxCorrect)
	}
}

// learn learns from an hour that is over how it differs from the others, and
// begins another.
func (p *purse) learn(hour int) {
	if p.whole && p.hour.planned >= 1 {
		p.learnt[hour] += learnHour * p.hour.over()
		p.learnt[hour] = min(max(p.learnt[hour], -maxLearnt), maxLearnt)
		p.draw()
	}
	p.hour, p.whole = spending{}, true
}

// spending is polls planned and made.
type spending struct{ planned, made float64 }

// add adds to what is kept of earlier ones.
func (s *spending) add(kept, planned float64, made int) {
	s.planned, s.made = s.planned*kept+planned, s.made*kept+float64(made)
}

// over returns by how much more was made than was planned, as a logarithm, as
// far as it is believed.
func (s *spending) over() float64 {
	return min(max(math.Log(max(s.made, 0.1)/s.planned), -maxError), maxError)
}
