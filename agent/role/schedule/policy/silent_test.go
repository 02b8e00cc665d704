package policy

import (
	"strings"
	"testing"
	"time"
)

// silent returns a feed that had an item every ten days for a year, then none for a number of days.
func silent(days int) *Feed {
	f := &Feed{Polled: monday, Window: 20}
	f.Model.Learn(published(0.1, 365, monday.Add(-time.Duration(days-5)*day)), monday)
	return f
}

func TestPrice_DeadFeedsAreDelayedToOnceAWeek(t *testing.T) {
	t.Parallel()
	p := newPrice(Settings{})
	p.controller.basePrice = 1e9
	for _, c := range []struct{ silent, days int }{{89, 1}, {119, 1}, {120, 2}, {150, 4}, {180, 7}, {5000, 7}} {
		f := silent(c.silent)
		f.Window = 0
		want := "dead: "
		if c.days == 1 {
			want = "ceiling: "
		}
		if d := p.Next(f, monday, 0); d.Next.Sub(monday) != time.Duration(c.days)*day || !strings.HasPrefix(d.Reason, want) {
			t.Errorf("silent for %d days: got %v (%s), want %d days", c.silent, d.Next.Sub(monday), d.Reason, c.days)
		}
	}
}

func TestPrice_SilentFeedFollowsThePrice(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	last := time.Duration(0)
	for _, days := range []int{5, 45, 89, 150, 400} {
		d := p.Next(silent(days), monday, 0)
		got := d.Next.Sub(monday)
		if got <= last || got > 12*time.Hour || !strings.HasPrefix(d.Reason, "price: ") {
			t.Errorf("silent for %d days: got %v (%s), want more than %v, at most 12h, by the price", days, got, d.Reason, last)
		}
		last = got
	}
}

func TestModel_LongTermRateSurvivesASilence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		days        int
		least, most float64
	}{{0, 0.08, 0.13}, {60, 0.03, 0.06}, {365, 0.005, 0.02}, {3650, 0, 0.002}} {
		f := silent(c.days)
		if got := f.Model.expectedRate(monday, 1); got < c.least || got > c.most {
			t.Errorf("an item every ten days, then none for %d: got %.4f items a day, want %v to %v", c.days, got, c.least, c.most)
		}
	}
}
