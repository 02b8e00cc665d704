package memory

import "testing"

func TestGrowth_RisesWithAllocationRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allocated float64 // bytes a second
		want      int
	}{{0, 25}, {1e6, 25}, {5e6, 25}, {8e6, 40}, {10e6, 50}, {20e6, 100}, {1e9, 100}} {
		if got := growth(c.allocated); got != c.want {
			t.Errorf("%v bytes a second: got %d %%, want %d %%", c.allocated, got, c.want)
		}
	}
}
