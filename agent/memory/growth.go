package memory

import "math"

const (
	// gcShare and gcBusyShare bound the CPU time of garbage collections: a share of one core, or of the CPU time
	// that the process uses if that is more. The rest follows: the heap grows as much between two collections as
	// is allocated in the time that their cost allows.
	gcShare     = 0.02
	gcBusyShare = 0.04

	minGrowth, maxGrowth = 10, 100

	// maxFree bounds the bytes by which a large heap grows between two collections. Objects that survive a burst are
	// scattered over all memory that it used, which can't be returned to the OS afterwards.
	maxFree = 256 << 20
)

// growth returns the GOGC percentage for a heap of live bytes: allocated bytes a second, cost is the CPU time of a
// collection in seconds, busy the CPU time that the process uses in seconds a second.
//
// The cost is measured, because it depends on the machine and on the heap: blocks without pointers, of which the
// windows of duplicates and stories consist, are not read. So a large window is collected with little free heap.
func growth(live, allocated, cost, busy float64) int {
	interval := cost / max(gcShare, gcBusyShare*busy) // seconds between collections
	grown := min(allocated*interval, maxFree)
	return int(min(max(math.Round(100*grown/max(live, 1)), minGrowth), maxGrowth))
}
