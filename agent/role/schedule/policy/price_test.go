package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// monday is noon of a Monday, the time of most tests.
var monday = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// published returns evenly spaced dates of a feed with a rate in items a day, for a number of days up to a
// time.
func published(perDay float64, days int, until time.Time) (dates []time.Time) {
	gap := time.Duration(float64(day) / perDay)
	for at := until.Add(-gap / 2); at.After(until.Add(-time.Duration(days) * day)); at = at.Add(-gap) {
		dates = append(dates, at)
	}
	slices.Reverse(dates)
	return dates
}

// learned returns a feed with a rate in items a day that was just polled.
func learned(perDay float64, now time.Time) *Feed {
	f := &Feed{Polled: now, Window: 20}
	f.Model.Learn(published(perDay, 28, now), now)
	return f
}

// even returns a feed with a rate in items a day and flat habits that was just polled.
func even(perDay float64) *Feed {
	f := &Feed{Polled: monday}
	f.Model.watchedUntil = monday.Unix()
	for t, halfLife := range map[*decayedCount]time.Duration{&f.Model.recent: recentHalfLife, &f.Model.longTerm: longTermHalfLife} {
		t.days = float32(maxWatchedDays(halfLife))
		t.items = float32(perDay) * t.days
	}
	return f
}

// budgeted returns a price policy calibrated to feeds, and the feeds: half have an item a day, the others
// four and twenty.
func budgeted(s Settings, n int, now time.Time) (*price, []*Feed) {
	p := newPrice(s)
	feeds := make([]*Feed, n)
	for i := range feeds {
		feeds[i] = learned([]float64{1, 4, 1, 20}[i%4], now)
	}
	p.Recalibrate(slices.Values(feeds), now)
	return p, feeds
}

func BenchmarkNext(b *testing.B) {
	p, feeds := budgeted(Settings{}, 1000, monday)
	for i := range feeds {
		feeds[i].Hints.TTL = time.Hour
	}
	for i := 0; b.Loop(); i++ {
		p.Next(feeds[i%len(feeds)], monday, 0)
	}
}

// BenchmarkNextOfAMillion visits the feeds in an order that defeats the CPU caches.
func BenchmarkNextOfAMillion(b *testing.B) {
	const n = 1 << 20
	some := make([]Feed, 4)
	for i := range some {
		some[i] = *learned([]float64{1, 4, 1, 20}[i], monday)
	}
	feeds := slices.Repeat(some, n/len(some))
	p := newPrice(Settings{})
	began := time.Now()
	p.Recalibrate(func(yield func(*Feed) bool) {
		for i := range feeds {
			if !yield(&feeds[i]) {
				return
			}
		}
	}, monday)
	b.ReportMetric(time.Since(began).Seconds(), "s/fit")
	for b.Loop() {
		p.Next(&feeds[rand.IntN(n)], monday, 0)
	}
}

// An even feed has flat habits, so its interval is that of Sia and Cho.
func TestPrice_IntervalIsTheRootOfThePrice(t *testing.T) {
	t.Parallel()
	p := newPrice(Settings{Floor: time.Second})
	p.controller.basePrice = 180
	for _, rate := range []float64{2, 50, 1000} {
		f := even(rate)
		rate := f.Model.expectedRate(monday, p.prior)
		want := time.Duration(math.Sqrt(2*180/(rate/day.Seconds())) * float64(time.Second))
		if got := p.Next(f, monday, 0).Next.Sub(monday); (got - want).Abs() > time.Second {
			t.Errorf("%v items a day: got %v, want %v", rate, got, want)
		}
	}
}

func TestPrice_PollsFollowTheDailyProfile(t *testing.T) {
	t.Parallel()
	p := newPrice(Settings{})
	p.controller.basePrice = 20
	f := workdays()
	count := map[int]int{}
	for now := monday.Add(-12 * time.Hour); now.Before(monday.Add(12 * time.Hour)); {
		f.Polled = now
		now = p.Next(f, now, 0).Next
		count[now.Hour()]++
	}
	if count[9] < 3 || count[9] < 3*count[15] {
		t.Errorf("feed publishing at 9: got %d polls in that hour and %d from 15 to 16", count[9], count[15])
	}
}

func TestPrice_NewFeedUsesTheMeanRate(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	if want := 26.0 / 4; math.Abs(p.prior/want-1) > 0.1 {
		t.Errorf("got a mean rate of %.2f items a day, want about %.2f", p.prior, want)
	}
	var unknown, known Feed
	known.Model.Learn(published(0.5, 365, monday), monday)
	if got := unknown.Model.expectedRate(monday, p.prior); math.Abs(got/p.prior-1) > 1e-9 {
		t.Errorf("new feed: got %v items a day, want the mean, %v", got, p.prior)
	}
	if got := known.Model.expectedRate(monday, p.prior); got < 0.5 || got > 0.8 {
		t.Errorf("feed with a year of history and 0.5 items a day: got %v", got)
	}
}

func TestPrice_WaitsForHalfAWindowAtMost(t *testing.T) {
	t.Parallel()
	p := newPrice(Settings{Floor: time.Second})
	p.controller.basePrice = 1e9
	f := learned(96, monday)
	f.Window = 16
	d := p.Next(f, monday, 0)
	if got := d.Next.Sub(monday); (got-2*time.Hour).Abs() > 10*time.Minute || !strings.HasPrefix(d.Reason, "window: ") {
		t.Errorf("4 items an hour, 16 shown: got %v (%s), want about 2h", got, d.Reason)
	}
}

func TestPrice_Floor(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	for _, c := range []struct {
		set   time.Duration
		heavy bool
		want  time.Duration
	}{{0, false, 2 * time.Minute}, {0, true, 10 * time.Minute}, {15 * time.Minute, true, 15 * time.Minute}, {225 * time.Second, false, 225 * time.Second}} {
		p.floor = newPrice(Settings{Floor: c.set}).floor
		f := learned(5000, monday)
		f.Window, f.Heavy = 0, c.heavy
		if d := p.Next(f, monday, 0); d.Next.Sub(monday) != c.want || d.Tier != Hot || !strings.HasPrefix(d.Reason, "floor: ") {
			t.Errorf("floor %v, heavy %v: got %v (%s), want %v", c.set, c.heavy, d.Next.Sub(monday), d.Reason, c.want)
		}
	}
}

func TestPrice_CeilingIsADay(t *testing.T) {
	t.Parallel()
	p := newPrice(Settings{})
	p.controller.basePrice = 1e9
	f := learned(0.3, monday)
	if d := p.Next(f, monday, 0); d.Next.Sub(monday) != 24*time.Hour || d.Tier != Cold || !strings.HasPrefix(d.Reason, "ceiling: ") {
		t.Errorf("got %v (%s), want 24h", d.Next.Sub(monday), d.Reason)
	}
}

func TestPrice_PushedFeedCountsATwelfthOfItsRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ trust, want float64 }{{0, 1}, {1, 1.0 / 12}, {0.5, 13.0 / 24}, {7, 1.0 / 12}, {-1, 1}} {
		if got := (&Feed{Pushed: c.trust}).pollShare(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("trust of %v: got %v of the rate, want %v", c.trust, got, c.want)
		}
	}
	p := newPrice(Settings{})
	f := even(20)
	without := p.Next(f, monday, 0).Next.Sub(monday)
	f.Pushed = 1
	if got := p.Next(f, monday, 0).Next.Sub(monday); math.Abs(got.Seconds()/without.Seconds()-math.Sqrt(12)) > 0.01 {
		t.Errorf("pushed: got %v, want sqrt(12) times %v", got, without)
	}
}

func TestPrice_PinnedFeedIsPolledAsHot(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	for _, f := range []*Feed{learned(0.3, monday), {Polled: monday, Model: Model{watchedUntil: 1, newest: 1}}} {
		f.Pinned = true
		if d := p.Next(f, monday, 0); d.Next.Sub(monday) != 225*time.Second || d.Tier != Hot || !strings.HasPrefix(d.Reason, "pinned: ") {
			t.Errorf("silent for %v: got %v (%s), want 3m45s", f.Model.Silent(monday), d.Next.Sub(monday), d.Reason)
		}
	}
}
