package policy

import (
	"iter"
	"math"
	"time"
)

// A bid is what the price has to know of a feed to foresee its polls.
type bid struct {
	items, days float64 // as its model has seen them, weighted by age
	worth       float64 // of the delay of an item
	asks        float64 // what part of its rate asks for polls
	floor, most float64 // of its interval, in seconds; equal where no price moves it
	fill        float64 // items that may come between polls
	slow        float64 // how many times longer it has to wait, as it fails
	zone        int     // minutes east of UTC
}

// bid returns the bid of a feed.
func (p *price) bid(f *Feed, now time.Time) bid {
	known := f.known(now)
	b := bid{
		worth: f.worth(), asks: f.asks(), floor: p.floorOf(f).Seconds(), most: p.pinnedInterval(f, now).Seconds(),
		fill: math.Inf(1), slow: 1 + f.Failures, zone: int(f.Model.zone),
	}
	b.items, b.days = f.Model.seen(known)
	if f.Window > 0 {
		b.fill = float64(f.Window) / 2
	}
	if wait, dead := f.dead(now); dead {
		b.floor, b.most = wait.Seconds(), wait.Seconds()
	}
	if f.failsLong(now) {
		b.floor, b.most, b.slow = maxInterval.Seconds(), maxInterval.Seconds(), 1
	}
	return b
}

// rate returns the items a second for which the feed is polled.
func (b *bid) rate(prior float64) float64 {
	return b.asks * gamma(b.items, b.days, prior, priorWorth) / day.Seconds()
}

// polls returns the polls a second at a rate and a price.
func (b *bid) polls(rate, nu float64) float64 {
	interval := min(math.Sqrt(2*nu/(b.worth*rate)), b.fill/rate)
	interval = max(min(interval, b.most), b.floor)
	return 1 / max(interval, min(interval*b.slow, maxInterval.Seconds()))
}

// Fit implements [Policy]. It finds the mean of all feeds, and the price at
// which they spend the budget.
func (p *price) Fit(feeds iter.Seq[*Feed], now time.Time) {
	var bids []bid
	var all habits
	var items, days float64
	var tables census
	for f := range feeds {
		b := p.bid(f, now)
		bids = append(bids, b)
		items, days = items+b.items, days+b.days
		rate := f.Model.Rate(f.known(now))
		all.add(&f.Model.profile, rate)
		tables.add(f, rate)
	}
	if len(bids) == 0 {
		return
	}
	all.mean()
	p.habits = all
	if days > 0 && items > 0 {
		p.prior = items / days
	}
	p.purse.budget = p.budget
	if p.budget == 0 {
		p.purse.budget = newTiers(p.tiers).spend(&tables)
	}
	p.purse.price = solve(bids, p.prior, p.purse.budget)
	p.purse.shares = p.shares(bids)
	p.purse.draw()
}

// solve returns the price at which the feeds make so many polls a second. Where
// no price does, as all are at their floors or all at their ceilings, it is the
// one nearest to it.
func solve(bids []bid, prior, budget float64) float64 {
	// From a price that keeps a feed with an item a second at a second's
	// interval, to one that keeps a feed with an item a year at a day's.
	low, high := math.Log(0.5), math.Log(1e6)
	for range 24 {
		middle := (low + high) / 2
		nu, polls := math.Exp(middle), 0.0
		for i := range bids {
			polls += bids[i].polls(bids[i].rate(prior), nu)
		}
		if polls > budget {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// sampled is how many feeds the shares of the hours are taken from, at most.
const sampled = 50_000

// shares returns which part of the budget each hour of the day needs, UTC, if
// the price stays: at habits of them all.
func (p *price) shares(bids []bid) [24]float64 {
	var hours [24]float64
	nu := p.purse.nu()
	for i := 0; i < len(bids); i += len(bids)/sampled + 1 {
		b := &bids[i]
		rate := b.rate(p.prior)
		for h := range hours {
			q := ((h*60+b.zone)/15 + quarters + 2) % quarters
			hours[h] += b.polls(rate*p.habits.quarters[q], nu)
		}
	}
	level(hours[:])
	return hours
}
