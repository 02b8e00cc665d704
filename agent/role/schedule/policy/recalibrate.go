package policy

import (
	"iter"
	"math"
	"time"
)

// A pollDemand holds the inputs by which price predicts how often a feed is polled at a given price.
type pollDemand struct {
	recent         decayedCount // as observed by its model
	longTerm       decayedCount
	pollShare      float64 // part of the feed's rate that needs polls; see Feed.pollShare
	burst          float64 // mean size of the burst in which an item arrives
	window         int     // entries in its document; 0 if not measured
	floor, ceiling float64 // bounds of its interval, in seconds; equal if the price has no influence
	failureFactor  float64 // by which failures lengthen the interval
	zone           int     // minutes east of UTC

	rate       float64 // items a second that need polls
	lossFactor float64 // weight of an item's delay; see lossFactor
	maxItems   float64 // limit of the items that arrive between polls
}

// demand returns the demand of a feed, without the fields that setPrior computes.
func (p *price) demand(f *Feed, now time.Time) pollDemand {
	b := pollDemand{
		pollShare: f.pollShare(), burst: f.Model.burstSize(), window: f.Window,
		floor: p.minIntervalOf(f).Seconds(), ceiling: p.maxIntervalOf(f, now).Seconds(), failureFactor: 1 + f.Failures, zone: int(f.Model.zone),
	}
	b.recent, b.longTerm = f.Model.countsAt(f.completeUntil(now))
	if f.failsLongTerm(now) {
		b.floor, b.ceiling, b.failureFactor = maxInterval.Seconds(), maxInterval.Seconds(), 1
	}
	return b
}

// setPrior computes the fields that depend on the mean rate of all feeds.
func (b *pollDemand) setPrior(prior float64) {
	perDay := b.pollShare * expectedRate(b.recent, b.longTerm, prior)
	b.rate, b.lossFactor, b.maxItems = perDay/day.Seconds(), lossFactor(perDay, b.burst, b.window), math.Inf(1)
	if b.window > 0 {
		b.maxItems = float64(b.window) / 2
	}
}

// pollRate returns the polls a second at an item rate and a price.
func (b *pollDemand) pollRate(rate, price float64) float64 {
	interval := min(math.Sqrt(2*price/(b.lossFactor*rate)), b.maxItems/rate)
	interval = max(min(interval, b.ceiling), b.floor)
	return 1 / max(interval, min(interval*b.failureFactor, maxInterval.Seconds()))
}

// Recalibrate implements [Policy]. It computes the mean rate and habits of all feeds, and the price at which
// their polls use up the budget.
func (p *price) Recalibrate(feeds iter.Seq[*Feed], now time.Time) {
	var bids []pollDemand
	var all habits
	var items, days float64
	var stats rateStats
	for f := range feeds {
		b := p.demand(f, now)
		stats.add(f, f.Model.Rate(f.completeUntil(now)))
		if f.Polled.IsZero() {
			continue // the first fetch has no price
		}
		bids = append(bids, b)
		items, days = items+float64(b.recent.items), days+float64(b.recent.days)
		all.add(&f.Model.profile, f.Model.Rate(f.completeUntil(now)))
	}
	if len(bids) == 0 {
		return
	}
	all.normalize()
	p.habits = all
	if days > 0 && items > 0 {
		p.prior = items / days
	}
	for i := range bids {
		bids[i].setPrior(p.prior)
	}
	p.controller.budget = p.budget
	if p.budget == 0 {
		p.controller.budget = newTiers(p.tiers).pollRate(&stats)
	}
	p.controller.basePrice = findPrice(bids, p.controller.budget)
	p.controller.forecastShares = p.hourlyShares(bids)
	p.controller.updatePlan()
}

// findPrice returns the price at which the feeds make budget polls a second, by bisection. If no price does,
// because all feeds are at their floors or ceilings, it returns the nearest.
func findPrice(bids []pollDemand, budget float64) float64 {
	// The bounds: a feed with an item a second polled every second, and a feed with an item a year polled
	// once a day.
	low, high := math.Log(0.5), math.Log(1e6)
	for range 24 {
		middle := (low + high) / 2
		price, polls := math.Exp(middle), 0.0
		for i := range bids {
			polls += bids[i].pollRate(bids[i].rate, price)
		}
		if polls > budget {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// maxSample bounds the number of feeds from which hourlyShares is computed.
const maxSample = 50_000

// hourlyShares returns each hour's share of the budget (UTC, mean 1) at the current price, by the average
// habits of all feeds.
func (p *price) hourlyShares(bids []pollDemand) [24]float64 {
	var hours [24]float64
	current := p.controller.currentPrice()
	for i := 0; i < len(bids); i += len(bids)/maxSample + 1 {
		b := &bids[i]
		for h := range hours {
			q := ((h*60+b.zone)/15 + quarters + 2) % quarters
			hours[h] += b.pollRate(b.rate*p.habits.quarters[q], current)
		}
	}
	normalizeMean(hours[:])
	return hours
}
