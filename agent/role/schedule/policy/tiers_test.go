package policy

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTiers_ThresholdsOfTheSource(t *testing.T) {
	t.Parallel()
	tiers := newTiers(TierSettings{})
	for _, c := range []struct {
		rate float64
		want Tier
	}{{0, Warm}, {2.9, Cold}, {3, Warm}, {8, Warm}, {8.1, Hot}} {
		if got := tiers.tier(c.rate, false); got != c.want {
			t.Errorf("tier at %v items a day: got %v, want %v", c.rate, got, c.want)
		}
	}
	if got := tiers.tier(0.1, true); got != Hot {
		t.Errorf("a pinned feed: got %v, want hot", got)
	}
}

func TestTiers_RecalibrateKeepsTheShares(t *testing.T) {
	t.Parallel()
	tiers := newTiers(TierSettings{})
	c := rateStats{}
	for i := range 1000 {
		c.rates = append(c.rates, 10+float64(i)) // all of them would be hot
	}
	tiers.setThresholds(&c)
	count := map[Tier]int{}
	for _, r := range c.rates {
		count[tiers.tier(r, false)]++
	}
	if count[Hot] != 100 || count[Warm] != 300 || count[Cold] != 600 {
		t.Errorf("got %d hot, %d warm, %d cold; want 100, 300, 600", count[Hot], count[Warm], count[Cold])
	}
}

func TestTiers_EqualRatesStayWithinTheShares(t *testing.T) {
	t.Parallel()
	tiers := newTiers(TierSettings{})
	tiers.setThresholds(&rateStats{rates: slices.Repeat([]float64{20}, 100)})
	if tiers.tier(20, false) == Hot {
		t.Error("got 100 of 100 feeds hot, want none rather than more than 10")
	}
}

func TestTiers_PinnedFeedsCountAsHot(t *testing.T) {
	t.Parallel()
	tiers := newTiers(TierSettings{})
	c := rateStats{pinned: 6}
	for i := range 94 {
		c.rates = append(c.rates, 10+float64(i))
	}
	tiers.setThresholds(&c)
	hot := 0
	for _, r := range c.rates {
		if tiers.tier(r, false) == Hot {
			hot++
		}
	}
	if hot != 4 || tiers.hotStretch != 1 {
		t.Errorf("with 6 pinned feeds of 100: got %d more hot feeds at %v times the interval; want 4 at 1", hot, tiers.hotStretch)
	}
	tiers.setThresholds(&rateStats{rates: c.rates[:70], pinned: 30})
	if every, _ := tiers.interval(Hot, 12); every != 3*225*time.Second {
		t.Errorf("with 30 pinned feeds of 100: got a hot interval of %v, want three times 3m45s", every)
	}
}

func TestTiers_IntervalsOfTheSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rate float64
		hour int
		want time.Duration
	}{
		{"hot at 8", 9, 8, 225 * time.Second},
		{"hot at 17", 9, 17, 225 * time.Second},
		{"hot at 18", 9, 18, 900 * time.Second},
		{"hot at 7", 9, 7, 900 * time.Second},
		{"warm", 4, 12, 1200 * time.Second},
		{"cold", 1, 12, 3600 * time.Second},
	} {
		now := time.Date(2026, 3, 2, c.hour, 0, 0, 0, time.UTC)
		if d := New(Settings{Kind: KindTiers}).Next(learned(c.rate, now), now, 0); d.Next.Sub(now) != c.want {
			t.Errorf("%s: got %v, want %v (%s)", c.name, d.Next.Sub(now), c.want, d.Reason)
		}
	}
}

func TestTiers_WorkingHoursUseTheFeedsZone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC) // 9 in Moscow
	f := learned(20, now)
	p := New(Settings{Kind: KindTiers})
	if got := p.Next(f, now, 0).Next.Sub(now); got != 15*time.Minute {
		t.Errorf("without zone: got %v, want 15m", got)
	}
	f.Model.SetZone(180)
	if d := p.Next(f, now, 0); d.Next.Sub(now) != 225*time.Second || !strings.Contains(d.Reason, "8 to 18") {
		t.Errorf("9 o'clock in the feed's zone: got %v (%s), want 3m45s", d.Next.Sub(now), d.Reason)
	}
}

func TestTiers_CustomSettings(t *testing.T) {
	t.Parallel()
	p := newTiers(TierSettings{HotRate: 2, HotShare: 1, From: 22, To: 4, HotDay: time.Minute, HotNight: time.Hour})
	f := learned(2.5, monday)
	for hour, want := range map[int]time.Duration{21: time.Hour, 23: time.Minute, 3: time.Minute, 4: time.Hour} {
		now := time.Date(2026, 3, 2, hour, 0, 0, 0, time.UTC)
		if got := p.Next(f, now, 0).Next.Sub(now); got != want {
			t.Errorf("at %d o'clock: got %v, want %v", hour, got, want)
		}
	}
}

// The source: 50,000 feeds make 28,800 messages of 100 a day when all tables are
// full.
func TestTiers_PollRateOfTheSource(t *testing.T) {
	t.Parallel()
	c := rateStats{rates: slices.Repeat([]float64{1}, 30_000)}
	for i := range 20_000 {
		c.rates = append(c.rates, 10+float64(i))
	}
	got := newTiers(TierSettings{}).pollRate(&c) * day.Seconds()
	if want := 2_880_000.0; math.Abs(got-want) > 1 {
		t.Errorf("got %.0f requests a day, want %.0f", got, want)
	}
}
