package policy

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// The numbers of the tiers.
//
// Source: D. Kiryanov, A Scalable Aggregation System Designed to Process
// 50,000 RSS Feeds, 2022, section on crawling.
const (
	hotRate   = 8.0 // items a day above which a feed is hot
	warmRate  = 3.0 // items a day from which a feed is warm
	hotShare  = 0.1 // of all feeds may be hot, at most
	warmShare = 0.3 // of all feeds may be warm, at most

	hotDay    = 225 * time.Second // from 8 to 18 o'clock
	hotNight  = 900 * time.Second
	warmEvery = 1200 * time.Second
	coldEvery = 3600 * time.Second
)

// Thresholds are the rates above which feeds are hot and warm.
type Thresholds struct {
	Hot, Warm float64
}

// Fit returns the thresholds for feeds of these rates: those of the source,
// raised where more feeds pass them than its shares allow. It sorts rates.
func Fit(rates []float64) Thresholds {
	slices.Sort(rates)
	return Thresholds{
		Hot:  atMost(hotShare, hotRate, rates),
		Warm: atMost(hotShare+warmShare, math.Nextafter(warmRate, 0), rates),
	}
}

// atMost returns the lowest threshold, from least on, that no more than share
// of the rates are above. One feed may always be.
func atMost(share, least float64, rates []float64) float64 {
	above := int(math.Ceil(share * float64(len(rates))))
	if above >= len(rates) {
		return least
	}
	return max(least, rates[len(rates)-1-above])
}

// Tier returns the tier of a feed with the given rate. One whose rate is
// unknown is warm until its first document tells.
func (t Thresholds) Tier(rate float64) Tier {
	switch {
	case rate <= 0:
		return Warm
	case rate > t.Hot:
		return Hot
	case rate > t.Warm:
		return Warm
	}
	return Cold
}

// Next decides by the feed's tier when one that was just polled is due next.
func (t Thresholds) Next(f Feed, now time.Time, spread float64) Decision {
	f.Rate = faded(f.Rate, f.Silent)
	tier := t.Tier(f.Rate)
	interval, why := every(tier, now)
	switch {
	case f.Rate > 0:
		why = fmt.Sprintf("%s, as it has %.2g items a day", why, f.Rate)
	case f.Failures == 0:
		why += ", as its rate is not known yet"
	}
	return after(interval, why, tier, f, now, spread)
}

// every returns how often feeds of a tier are polled at this time of day.
func every(t Tier, now time.Time) (time.Duration, string) {
	switch t {
	case Hot:
		if h := now.Hour(); h >= 8 && h < 18 {
			return hotDay, "hot: every 3m45s from 8 to 18 o'clock"
		}
		return hotNight, "hot: every 15m outside 8 to 18 o'clock"
	case Warm:
		return warmEvery, "warm: every 20m"
	}
	return coldEvery, "cold: every hour"
}
