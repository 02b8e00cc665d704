package policy

import (
	"testing"
	"time"
)

func TestUniformPollsAllFeedsAtOneInterval(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		feed   Feed
		spread float64
		want   time.Duration
		reason string
	}{
		{Feed{}, 0, 10 * time.Minute, "every 10m0s, as all feeds"},
		{Feed{Rate: 1000}, 1, 10*time.Minute + 30*time.Second, "every 10m0s, as all feeds"},
		{Feed{Rate: 0.01}, -1, 10*time.Minute - 30*time.Second, "every 10m0s, as all feeds"},
		{Feed{Failures: 2}, 0, 30 * time.Minute, "30m0s after 2 failures in a row"},
		{Feed{Failures: 1000}, 0, 24 * time.Hour, "24h0m0s after 1000 failures in a row"},
		{Feed{RetryAfter: time.Hour}, 0, time.Hour, "its host asked to wait 1h0m0s"},
	} {
		got := Uniform(10*time.Minute).Next(test.feed, now, test.spread)
		if got.Next.Sub(now) != test.want || got.Reason != test.reason || got.Tier != Uniform(1).Tier(test.feed.Rate) {
			t.Errorf("%+v: got %v (%s), want %v (%s)", test.feed, got.Next.Sub(now), got.Reason, test.want, test.reason)
		}
	}
	if got := Uniform(48*time.Hour).Next(Feed{Failures: 3}, now, 0); got.Next.Sub(now) != 48*time.Hour {
		t.Errorf("a failing feed that is polled every two days: got %v, want no sooner", got.Next.Sub(now))
	}
}
