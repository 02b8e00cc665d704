package policy

import "time"

const (
	defaultFloor = 2 * time.Minute
	heavyFloor   = 10 * time.Minute

	// pushedShare is what is left of the need to poll a feed whose hub pushes
	// and is trusted.
	pushedShare = 1.0 / 12
)

// price polls a feed when its expected accumulated delay since the last poll
// reaches a price that is the same for all feeds: when
//
//	integral from last poll to t of (t-s)·worth·rate(s) ds >= nu.
//
// For a constant rate the interval is sqrt(2·nu/rate), which spends a number of
// polls so that the items' mean delay is least (Sia and Cho, 2007); for a rate
// that changes over the day, polls gather where items do.
type price struct {
	floor  time.Duration
	budget float64 // as set; 0: what tiers would spend
	tiers  TierSettings
	prior  float64 // items a day of the mean feed
	habits habits  // of all feeds together
	purse  purse
}

func newPrice(s Settings) *price {
	if s.Floor == 0 {
		s.Floor = defaultFloor
	}
	return &price{floor: s.Floor, budget: s.Budget, tiers: s.Tiers, prior: 1, habits: flat(), purse: newPurse()}
}

// Next implements [Policy].
func (p *price) Next(f *Feed, now time.Time, spread float64) Decision {
	interval, why := p.interval(f, now)
	return settle(interval, why, lane(interval), f, now, spread)
}

// lane returns the tier whose own interval is nearest.
func lane(interval time.Duration) Tier {
	switch {
	case interval <= 15*time.Minute:
		return Hot
	case interval <= 35*time.Minute:
		return Warm
	}
	return Cold
}

// interval returns how long a feed may wait from now, and why.
func (p *price) interval(f *Feed, now time.Time) (time.Duration, string) {
	from := f.known(now)
	most := ceiling(f.Model.Silent(from))
	if f.Failures > 0 || now.Sub(from) >= most {
		from = now
	}
	rate := f.asks() * f.Model.likely(f.known(now), p.prior)
	c := p.course(f, rate, from)
	wait, bound := c.wait(p.purse.nu()/worth(rate, f.Model.burst(), f.Window), float64(f.Window)/2, most)
	why := sentence(bound, ": ", number(rate), " items a day, ", number(c.items), " expected by then")
	if hot := p.longest(f, now); wait > hot {
		wait, why = hot, sentence("pinned: every ", span(hot), ", as a person wants it")
	}
	wait, why = lengthen(f, &c, wait, why)
	wait -= now.Sub(from)
	switch floor := p.floorOf(f); {
	case wait < floor:
		return floor, sentence("floor: ", number(rate), " items a day, but polled no sooner than after ", span(floor))
	case wait >= most && most > maxInterval:
		return most, sentence("dead: nothing new for ", number(f.Model.Silent(now).Hours()/24), " days")
	case wait >= most:
		return most, sentence("ceiling: ", number(rate), " items a day, but polled once a day")
	}
	return wait, why
}

// floorOf returns the least interval of a feed.
func (p *price) floorOf(f *Feed) time.Duration {
	if f.Heavy {
		return max(p.floor, heavyFloor)
	}
	return p.floor
}

// asks returns which part of a feed's rate asks for polls: what is pushed needs
// few.
func (f *Feed) asks() float64 {
	return 1 - min(max(f.Pushed, 0), 1)*(1-pushedShare)
}

// longest returns the longest interval of a feed: the one of a hot tier if a
// person wants it hot.
func (p *price) longest(f *Feed, now time.Time) time.Duration {
	most := ceiling(f.Model.Silent(f.known(now)))
	if !f.Pinned {
		return most
	}
	hot, _ := newTiers(p.tiers).every(Hot, f.Model.local(now).Hour())
	return min(hot, most)
}

// ceiling returns the longest interval of a feed that is silent for so long: a
// day, two once it is so for 120 days, twice as many with every 30 days more,
// and never more than a week. It is what a feed gets that is dead; one that now
// and then has an item is polled as often as its price says.
func ceiling(silent time.Duration) time.Duration {
	const from, step, most = 90 * day, 30 * day, 7 * day
	doublings := min(max(silent-from, 0)/step, 8)
	return min(maxInterval<<doublings, most)
}

// Spent implements [Policy].
func (p *price) Spent(polls int, now time.Time) { p.purse.spent(polls, now) }
