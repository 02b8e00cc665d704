package policy

import (
	"math"
	"testing"
)

func TestDecayedCount_HalvesInItsHalfLife(t *testing.T) {
	t.Parallel()
	const seconds = int64(14 * daySeconds)
	var whole decayedCount
	whole.add(8, 0, recentHalfLife)
	if got := whole.decayed(seconds, recentHalfLife); got.items != 4 || math.Abs(float64(got.days)-maxWatchedDays(recentHalfLife)/2) > 1e-4 {
		t.Errorf("after 14 days without items: got %+v, want 4 items in %.2f days", got, maxWatchedDays(recentHalfLife)/2)
	}
	parts := whole
	for range 14 {
		parts = parts.decayed(daySeconds, recentHalfLife)
	}
	if want := whole.decayed(seconds, recentHalfLife); math.Abs(float64(parts.items-want.items)) > 1e-4 || math.Abs(float64(parts.days-want.days)) > 1e-4 {
		t.Errorf("day by day: got %+v, want %+v", parts, want)
	}
}
