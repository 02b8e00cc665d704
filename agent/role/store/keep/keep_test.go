package keep

import (
	"testing"
	"time"

	"feedmesh/config"
	"feedmesh/storage"
)

const day = 24 * time.Hour

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func TestPolicy_FeedOverridesTagOverridesDefault(t *testing.T) {
	t.Parallel()
	p := Policy{Default: storage.Keep{Age: 90 * day}, Tags: []config.TagKeep{
		{Tag: "news", Keep: storage.Keep{Age: 30 * day}}, {Tag: "work", Keep: storage.Keep{}},
	}}
	for _, c := range []struct {
		name string
		feed storage.Feed
		want storage.Keep
	}{
		{"default", storage.Feed{Tags: []string{"other"}}, storage.Keep{Age: 90 * day}},
		{"tag", storage.Feed{Tags: []string{"other", "work"}}, storage.Keep{}},
		{"the first tag of the list", storage.Feed{Tags: []string{"work", "news"}}, storage.Keep{Age: 30 * day}},
		{"feed", storage.Feed{Tags: []string{"news"}, Keep: "1000"}, storage.Keep{Items: 1000}},
		{"feed that keeps all", storage.Feed{Keep: "all"}, storage.Keep{}},
		{"a setting of a newer version keeps all", storage.Feed{Keep: "5GB"}, storage.Keep{}},
	} {
		if got := p.Of(c.feed); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAnnounce_LargePurgesWait(t *testing.T) {
	t.Parallel()
	small, large := Plan{Items: 50}, Plan{Items: 2000}
	const stored = 10_000
	known := State{Settings: "a"}
	announced := State{Settings: "a", Begins: now.Add(time.Hour), Reason: Changed}
	for _, c := range []struct {
		name   string
		last   State
		plan   Plan
		begins time.Time
		reason Reason
	}{
		{"the first start", State{}, small, now.Add(changedDelay), Changed},
		{"changed settings", State{Settings: "b"}, large, now.Add(changedDelay), Changed},
		{"nothing to purge", State{Settings: "b"}, Plan{}, time.Time{}, ""},
		{"the daily rest", known, small, now, Small},
		{"a large part, such as after a jump of the clock", known, large, now.Add(largeDelay), Large},
		{"an announced purge", announced, large, announced.Begins, Changed},
		{"a purge that was interrupted", State{Settings: "a", Begins: now.Add(-time.Hour), Reason: Large}, large, now.Add(-time.Hour), Large},
		{"a small purge that was interrupted and is now large", State{Settings: "a", Begins: now.Add(-time.Hour), Reason: Small}, large, now.Add(largeDelay), Large},
		{"an announcement from long ago", State{Settings: "a", Begins: now.Add(-3 * day), Reason: Changed}, large, now.Add(largeDelay), Large},
		{"an announcement by a clock that was ahead", State{Settings: "a", Begins: now.Add(100 * day), Reason: Large}, large, now.Add(largeDelay), Large},
		{"nothing to purge any more, as after the clock was set right", State{Settings: "a", Begins: now.Add(100 * day), Reason: Large}, Plan{}, time.Time{}, ""},
	} {
		got := announce(c.last, "a", c.plan, stored, now)
		if !got.Begins.Equal(c.begins) || got.Reason != c.reason || got.Settings != "a" {
			t.Errorf("%s: begins %v because of %q, want %v because of %q", c.name, got.Begins, got.Reason, c.begins, c.reason)
		}
	}
}
