package policy

import "time"

const (
	defaultFloor = 2 * time.Minute
	heavyFloor   = 10 * time.Minute

	// pushedShare is the part of a feed's rate that still needs polls if its hub pushes reliably.
	pushedShare = 1.0 / 12
)

// price polls a feed when its expected accumulated delay since the last poll reaches a price that is the same
// for all feeds: when
//
//	integral from last poll to t of (t-s)·lossFactor·rate(s) ds >= price.
//
// For a constant rate the interval is sqrt(2·price/rate), which minimizes the mean delay of all items for a
// given number of polls (Sia and Cho, 2007); for a rate that varies over the day, polls concentrate where
// items do.
type price struct {
	floor      time.Duration
	budget     float64 // as configured; 0: the polls of the tiers policy
	tiers      TierSettings
	prior      float64 // mean rate of all feeds, items a day
	habits     habits  // average of all feeds
	controller budgetController
}

func newPrice(s Settings) *price {
	if s.Floor == 0 {
		s.Floor = defaultFloor
	}
	return &price{floor: s.Floor, budget: s.Budget, tiers: s.Tiers, prior: 1, habits: flatHabits(), controller: newBudgetController()}
}

// Next implements [Policy].
func (p *price) Next(f *Feed, now time.Time, spread float64) Decision {
	interval, reason := p.interval(f, now)
	return decide(interval, reason, nearestTier(interval), f, now, spread)
}

// nearestTier returns the tier whose interval is nearest.
func nearestTier(interval time.Duration) Tier {
	switch {
	case interval <= 15*time.Minute:
		return Hot
	case interval <= 35*time.Minute:
		return Warm
	}
	return Cold
}

// interval returns how long a feed may wait from now, and the reason.
func (p *price) interval(f *Feed, now time.Time) (time.Duration, string) {
	from := f.completeUntil(now)
	longest := ceiling(f.Model.Silent(from))
	if f.Failures > 0 || now.Sub(from) >= longest {
		from = now
	}
	rate := f.pollShare() * f.Model.expectedRate(f.completeUntil(now), p.prior)
	c := p.forecast(f, rate, from)
	wait, bound := c.wait(p.controller.currentPrice()/lossFactor(rate, f.Model.burstSize(), f.Window), float64(f.Window)/2, longest)
	reason := join(bound, ": ", numberText(rate), " items a day, ", numberText(c.items), " expected by then")
	if hot := p.maxIntervalOf(f, now); wait > hot {
		wait, reason = hot, join("pinned: every ", durationText(hot), ", by a user")
	}
	wait, reason = applyHints(f, &c, wait, reason)
	wait -= now.Sub(from)
	switch floor := p.minIntervalOf(f); {
	case wait < floor:
		return floor, join("floor: ", numberText(rate), " items a day, but polled at most every ", durationText(floor))
	case wait >= longest && longest > maxInterval:
		return longest, join("dead: nothing new for ", numberText(f.Model.Silent(now).Hours()/24), " days")
	case wait >= longest:
		return longest, join("ceiling: ", numberText(rate), " items a day, but polled once a day")
	}
	return wait, reason
}

// minIntervalOf returns the minimum interval of a feed.
func (p *price) minIntervalOf(f *Feed) time.Duration {
	if f.Heavy {
		return max(p.floor, heavyFloor)
	}
	return p.floor
}

// pollShare returns the part of a feed's rate that needs polls: pushed items need few.
func (f *Feed) pollShare() float64 {
	return 1 - min(max(f.Pushed, 0), 1)*(1-pushedShare)
}

// maxIntervalOf returns the maximum interval of a feed; of a pinned feed, that of the hot tier.
func (p *price) maxIntervalOf(f *Feed, now time.Time) time.Duration {
	longest := ceiling(f.Model.Silent(f.completeUntil(now)))
	if !f.Pinned {
		return longest
	}
	hot, _ := newTiers(p.tiers).interval(Hot, f.Model.local(now).Hour())
	return min(hot, longest)
}

// ceiling returns the maximum interval of a feed that has published nothing for a time: a day, two days from
// 120 days on, doubled with each 30 days more, up to a week. Dead feeds reach it; a feed with an occasional
// item is polled as often as its price requires.
func ceiling(silent time.Duration) time.Duration {
	const from, step, most = 90 * day, 30 * day, 7 * day
	doublings := min(max(silent-from, 0)/step, 8)
	return min(maxInterval<<doublings, most)
}

// RecordPolls implements [Policy].
func (p *price) SetBudget(budget float64) { p.budget = budget }

// RecordPolls implements [Policy].
func (p *price) RecordPolls(polls int, now time.Time) { p.controller.record(polls, now) }
