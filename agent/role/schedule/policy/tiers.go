package policy

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"time"
)

// TierSettings are the parameters of the tiers policy. Zero fields are set to the source's numbers by
// [TierSettings.WithDefaults].
//
// Source: D. Kiryanov, A Scalable Aggregation System Designed to Process 50,000 RSS Feeds, 2022, section on
// crawling.
type TierSettings struct {
	HotRate, WarmRate   float64       // items a day above which a feed is hot (8), from which it is warm (3)
	HotShare, WarmShare float64       // maximum shares of all feeds (0.1, 0.3)
	From, To            int           // working hours, in the feed's zone if set, otherwise UTC (8 to 18)
	HotDay, HotNight    time.Duration // interval of hot feeds in and outside working hours (225 s, 900 s)
	Warm, Cold          time.Duration // intervals of the other tiers (1,200 s, 3,600 s)
}

// WithDefaults returns the settings with zero fields replaced by the source's numbers.
func (s TierSettings) WithDefaults() TierSettings {
	setDefault(&s.HotRate, 8)
	setDefault(&s.WarmRate, 3)
	setDefault(&s.HotShare, 0.1)
	setDefault(&s.WarmShare, 0.3)
	if s.To == 0 {
		s.From, s.To = 8, 18
	}
	setDefault(&s.HotDay, 225*time.Second)
	setDefault(&s.HotNight, 900*time.Second)
	setDefault(&s.Warm, 1200*time.Second)
	setDefault(&s.Cold, 3600*time.Second)
	return s
}

func setDefault[T float64 | time.Duration](v *T, otherwise T) {
	if *v == 0 {
		*v = otherwise
	}
}

// tiers polls hot, warm and cold feeds at three intervals.
//
// The source computes table sizes and the hot interval "automatically" without giving the rule. Recalibrate
// assumes this one: a table takes the feeds above its rate; if they exceed its share, those with the highest
// rates. If pinned feeds alone exceed the hot share, hot intervals are stretched in proportion.
type tiers struct {
	TierSettings
	hotAbove, warmAbove float64 // thresholds computed by Recalibrate, items a day
	hotStretch          float64 // factor of the hot intervals, at least 1
}

func newTiers(s TierSettings) *tiers {
	s = s.WithDefaults()
	return &tiers{TierSettings: s, hotAbove: s.HotRate, warmAbove: below(s.WarmRate), hotStretch: 1}
}

// below returns the greatest number less than x, so that "above it" means "at least x".
func below(x float64) float64 { return math.Nextafter(x, 0) }

// Recalibrate implements [Policy].
func (t *tiers) Recalibrate(feeds iter.Seq[*Feed], now time.Time) {
	var c rateStats
	for f := range feeds {
		c.add(f, f.Model.Rate(f.completeUntil(now)))
	}
	t.setThresholds(&c)
}

// setThresholds computes the thresholds between the tiers. It sorts the rates.
func (t *tiers) setThresholds(c *rateStats) {
	slices.Sort(c.rates)
	all := float64(len(c.rates) + c.pinned)
	hot := int(math.Ceil(t.HotShare * all))
	warm := hot + int(math.Ceil(t.WarmShare*all))
	t.hotAbove = threshold(hot-c.pinned, t.HotRate, c.rates)
	t.warmAbove = threshold(warm-c.pinned, below(t.WarmRate), c.rates)
	t.hotStretch = max(1, float64(c.pinned)/float64(max(hot, 1)))
}

// pollRate computes the thresholds and returns the polls a second of all feeds.
func (t *tiers) pollRate(c *rateStats) float64 {
	t.setThresholds(c)
	daily := [...]float64{Hot: t.pollsPerDay(Hot), Warm: t.pollsPerDay(Warm), Cold: t.pollsPerDay(Cold)}
	polls := float64(c.pinned) * daily[Hot]
	for _, rate := range c.rates {
		polls += daily[t.tier(rate, false)]
	}
	return polls / day.Seconds()
}

// threshold returns the lowest threshold, not below lowest, that at most n of the sorted rates exceed.
func threshold(n int, lowest float64, rates []float64) float64 {
	n = max(n, 0)
	if n >= len(rates) {
		return lowest
	}
	return max(lowest, rates[len(rates)-1-n])
}

// Next implements [Policy].
func (t *tiers) Next(f *Feed, now time.Time, spread float64) Decision {
	rate := f.Model.Rate(f.completeUntil(now))
	tier := t.tier(rate, f.Pinned)
	interval, reason := t.interval(tier, f.Model.local(now).Hour())
	switch {
	case f.Pinned:
		reason += ", pinned by a user"
	case rate > 0:
		reason += ", " + numberText(rate) + " items a day"
	default:
		reason += ", rate not measured yet"
	}
	return decide(interval, reason, tier, f, now, spread)
}

// tier returns the tier for a rate. A feed without a rate is warm until its first document.
func (t *tiers) tier(rate float64, pinned bool) Tier {
	switch {
	case pinned, rate > t.hotAbove:
		return Hot
	case rate <= 0, rate > t.warmAbove:
		return Warm
	}
	return Cold
}

// interval returns the interval of a tier at a local hour, and the reason.
func (t *tiers) interval(tier Tier, hour int) (time.Duration, string) {
	switch {
	case tier == Hot && t.isWorkingHour(hour):
		d := time.Duration(t.hotStretch * float64(t.HotDay))
		return d, join("hot: every ", durationText(d), " from ", strconv.Itoa(t.From), " to ", strconv.Itoa(t.To), " o'clock")
	case tier == Hot:
		d := time.Duration(t.hotStretch * float64(t.HotNight))
		return d, join("hot: every ", durationText(d), " outside ", strconv.Itoa(t.From), " to ", strconv.Itoa(t.To), " o'clock")
	case tier == Warm:
		return t.Warm, "warm: every " + durationText(t.Warm)
	}
	return t.Cold, "cold: every " + durationText(t.Cold)
}

// isWorkingHour reports whether an hour is a working hour; the range may span midnight.
func (t *tiers) isWorkingHour(hour int) bool {
	if t.From <= t.To {
		return hour >= t.From && hour < t.To
	}
	return hour >= t.From || hour < t.To
}

// pollsPerDay returns the polls a day of a feed of a tier.
func (t *tiers) pollsPerDay(tier Tier) float64 {
	total := 0.0
	for hour := range 24 {
		interval, _ := t.interval(tier, hour)
		total += time.Hour.Seconds() / interval.Seconds()
	}
	return total
}

// RecordPolls implements [Policy]; tiers have no budget.
func (*tiers) RecordPolls(int, time.Time) {}

// SetBudget implements [Policy].
func (*tiers) SetBudget(float64) {}
