package memory

import "math"

const (
	// markCost is the time of a collection for each live byte, in seconds of one core: one core marks about a
	// gigabyte a second of such heaps.
	markCost = 1e-9

	// gcShare is the share of a core that additional collections may use to keep the heap small.
	gcShare = 0.02

	minGrowth, maxGrowth = 25, 100
)

// growth returns the GOGC percentage for an allocation rate in bytes a second. At a low rate the heap is
// collected early, at almost no cost; at a high rate after it has doubled, which is Go's default. The size of
// the live heap has no influence: a larger heap takes longer to collect, but is collected less often in
// proportion.
func growth(allocated float64) int {
	return int(min(max(math.Round(100*markCost*allocated/gcShare), minGrowth), maxGrowth))
}
