package policy

import (
	"math"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestTierFollowsTheSourcesRates(t *testing.T) {
	fit := Fit(nil)
	for _, c := range []struct {
		rate float64
		want Tier
	}{{0, Warm}, {2.9, Cold}, {3, Warm}, {8, Warm}, {8.1, Hot}} {
		if got := fit.Tier(c.rate); got != c.want {
			t.Errorf("tier at %v items a day: got %v, want %v", c.rate, got, c.want)
		}
	}
}

func TestFitKeepsTheSourcesShares(t *testing.T) {
	rates := make([]float64, 1000)
	for i := range rates {
		rates[i] = 10 + float64(i) // all of them would be hot
	}
	fit := Fit(rates)
	count := map[Tier]int{}
	for _, r := range rates {
		count[fit.Tier(r)]++
	}
	if count[Hot] != 100 || count[Warm] != 300 || count[Cold] != 600 {
		t.Errorf("got %d hot, %d warm, %d cold; want 100, 300, 600", count[Hot], count[Warm], count[Cold])
	}
}

func TestEqualRatesNeverPassTheShares(t *testing.T) {
	rates := make([]float64, 100)
	for i := range rates {
		rates[i] = 20
	}
	if fit := Fit(rates); fit.Tier(20) == Hot {
		t.Error("100 of 100 feeds are hot, want none rather than more than 10")
	}
}

func TestNextKeepsTheSourcesIntervals(t *testing.T) {
	night := time.Date(2026, 3, 4, 18, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		rate float64
		now  time.Time
		want time.Duration
	}{
		{"hot by day", 9, noon, 225 * time.Second},
		{"hot by night", 9, night, 900 * time.Second},
		{"warm", 4, noon, 1200 * time.Second},
		{"cold", 1, noon, 3600 * time.Second},
	} {
		d := Fit(nil).Next(Feed{Rate: c.rate}, c.now, 0)
		if got := d.Next.Sub(c.now); got != c.want {
			t.Errorf("%s: got %v, want %v (%s)", c.name, got, c.want, d.Reason)
		}
	}
}

func TestNextSpreadsAndBacksOffAndObeys(t *testing.T) {
	fit := Fit(nil)
	if got := fit.Next(Feed{Rate: 1}, noon, 1).Next.Sub(noon); got != 63*time.Minute {
		t.Errorf("spread of 1: got %v, want 1h3m", got)
	}
	if got := fit.Next(Feed{Rate: 1, Failures: 3}, noon, 0); got.Next.Sub(noon) != 4*time.Hour || !strings.Contains(got.Reason, "3 failures") {
		t.Errorf("after 3 failures: got %v (%s), want 4h", got.Next.Sub(noon), got.Reason)
	}
	if got := fit.Next(Feed{Rate: 1, Failures: 1000}, noon, 0).Next.Sub(noon); got != 24*time.Hour {
		t.Errorf("after 1000 failures: got %v, want 24h", got)
	}
	if got := fit.Next(Feed{Rate: 9, RetryAfter: 48 * time.Hour}, noon, 1).Next.Sub(noon); got != 48*time.Hour {
		t.Errorf("with Retry-After: got %v, want 48h", got)
	}
}

func TestRate(t *testing.T) {
	ago := func(hours ...float64) (dates []time.Time) {
		for _, h := range hours {
			dates = append(dates, noon.Add(-time.Duration(h*float64(time.Hour))))
		}
		return dates
	}
	for _, c := range []struct {
		name  string
		dates []time.Time
		want  float64
	}{
		{"no dates", nil, 0},
		{"zero and future dates only", []time.Time{{}, noon.Add(time.Hour)}, 0},
		{"three in the last week of a longer document", ago(1, 2, 3, 200), 3.0 / 7},
		{"a document of one day", ago(0, 8, 16, 24), 3},
		{"a document made at one stroke", ago(0, 0, 0), 48},
		{"silent for ten days", ago(240, 300), 0.1},
		{"one entry, an hour old", ago(1), 1.0 / 7},
	} {
		if got := Rate(c.dates, noon); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: got %v items a day, want %v", c.name, got, c.want)
		}
	}
}

func TestASilentFeedFades(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		silent time.Duration
		want   float64
	}{{0, 14}, {3*day + day/2, 7}, {7 * day, 1.0 / 7}, {70 * day, 1.0 / 70}} {
		if got := faded(14, c.silent); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("14 items a day after %v of silence: got %v, want %v", c.silent, got, c.want)
		}
	}
}
