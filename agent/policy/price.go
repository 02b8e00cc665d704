package policy

import "time"

const (
	defaultFloor = 2 * time.Minute
	heavyFloor   = 10 * time.Minute

	// priorWorth is how many days of watching the mean of all feeds is worth
	// against what was seen of one.
	priorWorth = 0.5

	// pushedShare is what is left of the need to poll a feed whose hub pushes
	// and is trusted.
	pushedShare = 1.0 / 12

	// crowded is how many times the delay of a feed's items is worth that of
	// others if two of its bursts do not fit into its document: when two come
	// between polls, items are lost. It halves the intervals, and the losses.
	crowded = 4
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
	if f.Failures > 0 || now.Sub(from) >= maxInterval {
		from = now
	}
	if wait, dead := f.dead(now); dead {
		return wait, sentence("dead: nothing new for ", number(f.Model.Silent(now).Hours()/24), " days")
	}
	rate := f.asks() * f.Model.rate(f.known(now), p.prior, priorWorth)
	c := p.course(f, rate, from)
	wait, bound := c.wait(p.purse.nu()/f.worth(), float64(f.Window)/2)
	why := sentence(bound, ": ", number(rate), " items a day, ", number(c.items), " expected by then")
	if hot := p.pinnedInterval(f, now); wait > hot {
		wait, why = hot, sentence("pinned: every ", span(hot), ", as a person wants it")
	}
	wait, why = lengthen(f, &c, wait, why)
	wait -= now.Sub(from)
	switch floor := p.floorOf(f); {
	case wait < floor:
		return floor, sentence("floor: ", number(rate), " items a day, but polled no sooner than after ", span(floor))
	case wait >= maxInterval:
		return maxInterval, sentence("ceiling: ", number(rate), " items a day, but polled once a day")
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

// worth returns what the delay of an item of the feed is worth.
func (f *Feed) worth() float64 {
	if f.Window > 0 && 2*f.Model.burst() > float64(f.Window) {
		return crowded
	}
	return 1
}

// pinnedInterval returns the longest interval of a feed: the one of a hot tier if
// a person wants it hot.
func (p *price) pinnedInterval(f *Feed, now time.Time) time.Duration {
	if !f.Pinned {
		return maxInterval
	}
	interval, _ := newTiers(p.tiers).every(Hot, f.Model.local(now).Hour())
	return min(interval, maxInterval)
}

// dead returns how often the feed is polled if it counts as dead; one that a
// person wants never does.
func (f *Feed) dead(now time.Time) (interval time.Duration, dead bool) {
	if f.Pinned {
		return 0, false
	}
	return deadInterval(f.Model.Silent(f.known(now)))
}

// deadInterval returns how often a feed is polled that is silent for so long,
// if it counts as dead: once a day from 90 days on, half as often with every
// 30 days more, once a week at least.
func deadInterval(silent time.Duration) (interval time.Duration, dead bool) {
	const from, step, most = 90 * day, 30 * day, 7 * day
	if silent < from {
		return 0, false
	}
	doublings := min((silent-from)/step, 8)
	return min(maxInterval<<doublings, most), true
}

// Spent implements [Policy].
func (p *price) Spent(polls int, now time.Time) { p.purse.spent(polls, now) }
