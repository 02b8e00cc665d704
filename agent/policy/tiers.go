package policy

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"time"
)

// TierSettings are the numbers of the tiers. A zero one stands for that of the
// source, which [TierSettings.Filled] puts in.
//
// Source: D. Kiryanov, A Scalable Aggregation System Designed to Process
// 50,000 RSS Feeds, 2022, section on crawling.
type TierSettings struct {
	HotRate, WarmRate   float64       // items a day above which a feed is hot (8), from which it is warm (3)
	HotShare, WarmShare float64       // of all feeds that may be so, at most (0.1, 0.3)
	From, To            int           // working hours, in the feed's zone where known, UTC otherwise (8 to 18)
	HotDay, HotNight    time.Duration // interval of hot feeds in working hours and otherwise (225 s, 900 s)
	Warm, Cold          time.Duration // intervals of the others (1,200 s, 3,600 s)
}

// Filled returns the settings with the source's numbers in place of zero ones.
func (s TierSettings) Filled() TierSettings {
	fill(&s.HotRate, 8)
	fill(&s.WarmRate, 3)
	fill(&s.HotShare, 0.1)
	fill(&s.WarmShare, 0.3)
	if s.To == 0 {
		s.From, s.To = 8, 18
	}
	fill(&s.HotDay, 225*time.Second)
	fill(&s.HotNight, 900*time.Second)
	fill(&s.Warm, 1200*time.Second)
	fill(&s.Cold, 3600*time.Second)
	return s
}

func fill[T float64 | time.Duration](v *T, otherwise T) {
	if *v == 0 {
		*v = otherwise
	}
}

// tiers polls hot, warm and cold feeds at three intervals.
//
// The source computes the sizes of its tables and how often the hot one is read
// "automatically", and does not say how. What Fit does is taken to be that: a
// table takes the feeds above its rate, and if they are more than its share,
// those with the highest rates; the hot one is read less often, in proportion,
// when moderators have put more feeds into it than its share.
type tiers struct {
	TierSettings
	hotAbove, warmAbove float64 // the lines that Fit drew
	stretch             float64 // of the hot intervals, at least 1
}

func newTiers(s TierSettings) *tiers {
	s = s.Filled()
	return &tiers{TierSettings: s, hotAbove: s.HotRate, warmAbove: below(s.WarmRate), stretch: 1}
}

// below returns the greatest number less than x: what is above it is at least x.
func below(x float64) float64 { return math.Nextafter(x, 0) }

// Fit implements [Policy].
func (t *tiers) Fit(feeds iter.Seq[*Feed], now time.Time) {
	var c census
	for f := range feeds {
		c.add(f, f.Model.Rate(f.known(now)))
	}
	t.draw(&c)
}

// draw draws the lines between the tiers. It sorts the rates.
func (t *tiers) draw(c *census) {
	slices.Sort(c.rates)
	all := float64(len(c.rates) + c.pinned)
	hot := int(math.Ceil(t.HotShare * all))
	warm := hot + int(math.Ceil(t.WarmShare*all))
	t.hotAbove = atMost(hot-c.pinned, t.HotRate, c.rates)
	t.warmAbove = atMost(warm-c.pinned, below(t.WarmRate), c.rates)
	t.stretch = max(1, float64(c.pinned)/float64(max(hot, 1)))
}

// spend draws the lines and returns how many polls a second all feeds get then.
func (t *tiers) spend(c *census) float64 {
	t.draw(c)
	daily := [...]float64{Hot: t.daily(Hot), Warm: t.daily(Warm), Cold: t.daily(Cold)}
	polls := float64(c.pinned) * daily[Hot]
	for _, rate := range c.rates {
		polls += daily[t.tier(rate, false)]
	}
	return polls / day.Seconds()
}

// atMost returns the lowest line, from least on, that no more than n of the
// sorted rates are above.
func atMost(n int, least float64, rates []float64) float64 {
	n = max(n, 0)
	if n >= len(rates) {
		return least
	}
	return max(least, rates[len(rates)-1-n])
}

// Next implements [Policy].
func (t *tiers) Next(f *Feed, now time.Time, spread float64) Decision {
	rate := f.Model.Rate(f.known(now))
	tier := t.tier(rate, f.Pinned)
	interval, why := t.every(tier, f.Model.local(now).Hour())
	switch {
	case f.Pinned:
		why += ", as a person wants it"
	case rate > 0:
		why += ", as it has " + number(rate) + " items a day"
	default:
		why += ", as its rate is not known yet"
	}
	return settle(interval, why, tier, f, now, spread)
}

// tier returns the tier of a feed with the given rate. One whose rate is
// unknown is warm until its first document tells.
func (t *tiers) tier(rate float64, pinned bool) Tier {
	switch {
	case pinned, rate > t.hotAbove:
		return Hot
	case rate <= 0, rate > t.warmAbove:
		return Warm
	}
	return Cold
}

// every returns how often feeds of a tier are polled at an hour of their day.
func (t *tiers) every(tier Tier, hour int) (time.Duration, string) {
	switch {
	case tier == Hot && t.working(hour):
		d := time.Duration(t.stretch * float64(t.HotDay))
		return d, sentence("hot: every ", span(d), " from ", strconv.Itoa(t.From), " to ", strconv.Itoa(t.To), " o'clock")
	case tier == Hot:
		d := time.Duration(t.stretch * float64(t.HotNight))
		return d, sentence("hot: every ", span(d), " outside ", strconv.Itoa(t.From), " to ", strconv.Itoa(t.To), " o'clock")
	case tier == Warm:
		return t.Warm, "warm: every " + span(t.Warm)
	}
	return t.Cold, "cold: every " + span(t.Cold)
}

// working reports whether an hour is a working one; the hours may span midnight.
func (t *tiers) working(hour int) bool {
	if t.From <= t.To {
		return hour >= t.From && hour < t.To
	}
	return hour >= t.From || hour < t.To
}

// daily returns how many polls a day a feed of a tier gets.
func (t *tiers) daily(tier Tier) float64 {
	total := 0.0
	for hour := range 24 {
		interval, _ := t.every(tier, hour)
		total += time.Hour.Seconds() / interval.Seconds()
	}
	return total
}

// Spent implements [Policy]; tiers have no budget.
func (*tiers) Spent(int, time.Time) {}
