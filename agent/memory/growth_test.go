package memory

import "testing"

func TestGrowth_ByCostOfCollections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                        string
		live, allocated, cost, busy float64
		want                        int
	}{
		{"at rest: often, since it costs nothing", 50e6, 0.1e6, 0.05, 0.01, minGrowth},
		{"large window without pointers: a collection each five seconds", 600e6, 20e6, 0.1, 0.1, 17},
		{"heap with pointers: less often, a collection costs more", 400e6, 8e6, 0.6, 0.1, 60},
		{"busy: a share of the process's time", 300e6, 100e6, 0.12, 1.8, 56},
		{"burst with a large window", 500e6, 250e6, 0.12, 1.8, 54},
		{"small heap at a high rate: Go's default", 50e6, 250e6, 0.05, 1.8, maxGrowth},
		{"empty heap", 0, 1e6, 0.01, 0, maxGrowth},
	} {
		if got := growth(c.live, c.allocated, c.cost, c.busy); got != c.want {
			t.Errorf("%s: got %d %%, want %d %%", c.name, got, c.want)
		}
	}
}
