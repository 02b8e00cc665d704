package policy

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// each runs a test with every kind of policy, calibrated to the feed.
func each(t *testing.T, f *Feed, now time.Time, do func(t *testing.T, p Policy)) {
	for _, kind := range []string{KindPrice, KindTiers, KindUniform} {
		t.Run(kind, func(t *testing.T) {
			p := New(Settings{Kind: kind})
			p.Recalibrate(slices.Values([]*Feed{f}), now)
			do(t, p)
		})
	}
}

func TestDecide_FailuresLengthenTheInterval(t *testing.T) {
	t.Parallel()
	each(t, learned(2, monday), monday, func(t *testing.T, p Policy) {
		healthy := p.Next(learned(2, monday), monday, 0).Next.Sub(monday)
		for _, failures := range []float64{0.25, 0.5, 1, 3} {
			f := learned(2, monday)
			f.Failures, f.FailingSince = failures, monday.Add(-time.Hour)
			d := p.Next(f, monday, 0)
			want := min(time.Duration((1+failures)*float64(healthy)), 24*time.Hour)
			if got := d.Next.Sub(monday); (got-want).Abs() > time.Microsecond || !strings.HasPrefix(d.Reason, "failing: ") {
				t.Errorf("failures of %v: got %v (%s), want %v", failures, got, d.Reason, want)
			}
		}
	})
}

func TestDecide_FailuresLengthenToOneDayAtMost(t *testing.T) {
	t.Parallel()
	for _, failures := range []float64{1000, 1e300, math.Inf(1)} {
		f := learned(2, monday)
		f.Failures, f.FailingSince = failures, monday.Add(-time.Hour)
		each(t, f, monday, func(t *testing.T, p Policy) {
			if got := p.Next(f, monday, 0).Next.Sub(monday); got != 24*time.Hour {
				t.Errorf("after failures of %v: got %v, want 24h", failures, got)
			}
		})
	}
	f := &Feed{Polled: monday, Failures: 3, FailingSince: monday}
	if got := New(Settings{Kind: KindUniform, Interval: 48 * time.Hour}).Next(f, monday, 0).Next.Sub(monday); got != 48*time.Hour {
		t.Errorf("failing feed polled every two days: got %v, want not sooner", got)
	}
}

func TestDecide_LongFailingFeedIsPolledOnceADay(t *testing.T) {
	t.Parallel()
	f := learned(50, monday)
	f.Failures = 0.25
	each(t, f, monday, func(t *testing.T, p Policy) {
		f.FailingSince = monday.Add(-30*24*time.Hour + time.Second)
		if got := p.Next(f, monday, 0).Next.Sub(monday); got >= 24*time.Hour {
			t.Errorf("one second before: got %v, want less than 24h", got)
		}
		f.FailingSince = monday.Add(-30 * 24 * time.Hour)
		if d := p.Next(f, monday, 0); d.Next.Sub(monday) != 24*time.Hour || !strings.Contains(d.Reason, "30 days") {
			t.Errorf("got %v (%s), want 24h", d.Next.Sub(monday), d.Reason)
		}
	})
}

func TestDecide_RetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ requested, want time.Duration }{
		{48 * time.Hour, 48 * time.Hour}, {7 * 24 * time.Hour, 7 * 24 * time.Hour}, {90 * 24 * time.Hour, 7 * 24 * time.Hour},
	} {
		for _, failures := range []float64{0, 1} {
			f := learned(50, monday)
			f.RetryAfter, f.Failures = c.requested, failures
			each(t, f, monday, func(t *testing.T, p Policy) {
				if d := p.Next(f, monday, -1); d.Next.Sub(monday) != c.want || !strings.HasPrefix(d.Reason, "Retry-After: ") {
					t.Errorf("Retry-After %v: got %v (%s), want %v", c.requested, d.Next.Sub(monday), d.Reason, c.want)
				}
			})
		}
	}
}

func TestDecide_RetryAfterNeverShortens(t *testing.T) {
	t.Parallel()
	each(t, learned(2, monday), monday, func(t *testing.T, p Policy) {
		want := p.Next(learned(2, monday), monday, 0)
		f := learned(2, monday)
		f.RetryAfter = time.Second
		if got := p.Next(f, monday, 0); got != want {
			t.Errorf("got %v, want %v as without Retry-After", got, want)
		}
	})
}

func TestDecide_SpreadIsAtMostFivePercent(t *testing.T) {
	t.Parallel()
	f := learned(2, monday)
	each(t, f, monday, func(t *testing.T, p Policy) {
		middle := p.Next(f, monday, 0).Next.Sub(monday)
		for _, spread := range []float64{-1, 1} {
			want := middle + time.Duration(spread*0.05*float64(middle))
			if got := p.Next(f, monday, spread).Next.Sub(monday); got != want {
				t.Errorf("spread %v: got %v, want %v", spread, got, want)
			}
		}
	})
}

func TestUniform_OneIntervalForAllFeeds(t *testing.T) {
	t.Parallel()
	for _, f := range []*Feed{{Polled: monday}, learned(0.1, monday), learned(100, monday)} {
		d := New(Settings{Kind: KindUniform, Interval: 20 * time.Minute}).Next(f, monday, 0)
		if d.Next.Sub(monday) != 20*time.Minute || d.Reason != "uniform: every 20 min for all feeds" {
			t.Errorf("got %v (%s), want 20m", d.Next.Sub(monday), d.Reason)
		}
	}
}

func TestDecide_NewFeedIsDueImmediately(t *testing.T) {
	t.Parallel()
	each(t, learned(2, monday), monday, func(t *testing.T, p Policy) {
		if d := p.Next(&Feed{}, monday, 1); !d.Next.Equal(monday) || !strings.HasPrefix(d.Reason, "new: ") {
			t.Errorf("got %v (%s), want %v", d.Next, d.Reason, monday)
		}
	})
}

func TestDecide_NewFailingFeedIsRetriedSoon(t *testing.T) {
	t.Parallel()
	each(t, learned(0.01, monday), monday, func(t *testing.T, p Policy) {
		for _, failures := range []float64{0.25, 0.5, 1, 3} {
			f := &Feed{Failures: failures, FailingSince: monday.Add(-time.Hour)}
			d := p.Next(f, monday, 0)
			most := time.Duration((1 + failures) * float64(15*time.Minute))
			if got := d.Next.Sub(monday); got <= 0 || got > most || !strings.HasPrefix(d.Reason, "failing: ") {
				t.Errorf("failures of %v: got %v (%s), want at most %v", failures, got, d.Reason, most)
			}
		}
		f := &Feed{Failures: 1e6, FailingSince: monday.Add(-time.Hour)}
		if got := p.Next(f, monday, 0).Next.Sub(monday); got != 24*time.Hour {
			t.Errorf("after many failures: got %v, want 24h", got)
		}
	})
}
