package memory

import "math"

const (
	// marking is what a collection takes of a core for each byte that lives, in
	// seconds: a gigabyte a second is what one core marks of heaps such as ours.
	marking = 1e-9

	// collecting is the share of a core that collections may take so that the heap is
	// small.
	collecting = 0.02

	leastGrowth, mostGrowth = 25, 100
)

// growth returns by how much of what lives the heap may grow until it is collected,
// in percent, where so many bytes a second are taken: where there is little to do
// it is collected early, which costs next to nothing then; and after it has doubled
// where there is much, as Go itself has it. What lives does not matter: the more it
// is, the longer a collection takes, and the longer it is until the next.
func growth(taken float64) int {
	return int(min(max(math.Round(100*marking*taken/collecting), leastGrowth), mostGrowth))
}
