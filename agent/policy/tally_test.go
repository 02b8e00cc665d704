package policy

import (
	"math"
	"testing"
)

func TestATallyForgetsByHalves(t *testing.T) {
	t.Parallel()
	const seconds = int64(14 * daySeconds)
	var whole tally
	whole.add(8, 0, recently)
	if got := whole.after(seconds, recently); got.items != 4 || math.Abs(float64(got.days)-memory(recently)/2) > 1e-4 {
		t.Errorf("after 14 days of nothing: got %+v, want 4 items in %.2f days", got, memory(recently)/2)
	}
	parts := whole
	for range 14 {
		parts = parts.after(daySeconds, recently)
	}
	if want := whole.after(seconds, recently); math.Abs(float64(parts.items-want.items)) > 1e-4 || math.Abs(float64(parts.days-want.days)) > 1e-4 {
		t.Errorf("day by day: got %+v, want %+v", parts, want)
	}
}
