package policy

import (
	"iter"
	"math"
	"time"
)

// A bid is what the price has to know of a feed to foresee its polls.
type bid struct {
	recent      tally // as its model has seen them
	usual       tally
	asks        float64 // what part of its rate asks for polls
	burst       float64 // among how many items one comes at once
	window      int     // entries its document shows; 0 unknown
	floor, most float64 // of its interval, in seconds; equal where no price moves it
	slow        float64 // how many times longer it has to wait, as it fails
	zone        int     // minutes east of UTC

	rate  float64 // items a second that ask for polls
	worth float64 // of the delay of one
	fill  float64 // items that may come between polls
}

// bid returns the bid of a feed, but for what depends on the mean of all feeds.
func (p *price) bid(f *Feed, now time.Time) bid {
	b := bid{
		asks: f.asks(), burst: f.Model.burst(), window: f.Window,
		floor: p.floorOf(f).Seconds(), most: p.longest(f, now).Seconds(), slow: 1 + f.Failures, zone: int(f.Model.zone),
	}
	b.recent, b.usual = f.Model.seen(f.known(now))
	if f.failsLong(now) {
		b.floor, b.most, b.slow = maxInterval.Seconds(), maxInterval.Seconds(), 1
	}
	return b
}

// expect fills in what depends on the mean of all feeds.
func (b *bid) expect(prior float64) {
	perDay := b.asks * likely(b.recent, b.usual, prior)
	b.rate, b.worth, b.fill = perDay/day.Seconds(), worth(perDay, b.burst, b.window), math.Inf(1)
	if b.window > 0 {
		b.fill = float64(b.window) / 2
	}
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
		tables.add(f, f.Model.Rate(f.known(now)))
		if f.Polled.IsZero() {
			continue // its wait for a first document has no price
		}
		bids = append(bids, b)
		items, days = items+float64(b.recent.items), days+float64(b.recent.days)
		all.add(&f.Model.profile, f.Model.Rate(f.known(now)))
	}
	if len(bids) == 0 {
		return
	}
	all.mean()
	p.habits = all
	if days > 0 && items > 0 {
		p.prior = items / days
	}
	for i := range bids {
		bids[i].expect(p.prior)
	}
	p.purse.budget = p.budget
	if p.budget == 0 {
		p.purse.budget = newTiers(p.tiers).spend(&tables)
	}
	p.purse.price = solve(bids, p.purse.budget)
	p.purse.shares = p.shares(bids)
	p.purse.draw()
}

// solve returns the price at which the feeds make so many polls a second. Where
// no price does, as all are at their floors or all at their ceilings, it is the
// one nearest to it.
func solve(bids []bid, budget float64) float64 {
	// From a price that keeps a feed with an item a second at a second's
	// interval, to one that keeps a feed with an item a year at a day's.
	low, high := math.Log(0.5), math.Log(1e6)
	for range 24 {
		middle := (low + high) / 2
		nu, polls := math.Exp(middle), 0.0
		for i := range bids {
			polls += bids[i].polls(bids[i].rate, nu)
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
		for h := range hours {
			q := ((h*60+b.zone)/15 + quarters + 2) % quarters
			hours[h] += b.polls(b.rate*p.habits.quarters[q], nu)
		}
	}
	level(hours[:])
	return hours
}
