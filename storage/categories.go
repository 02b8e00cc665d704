package storage

import (
	"cmp"
	"maps"
	"slices"
)

// Bounds of what a feed's last items were about.
const (
	maxFeedCategories = 10
	maxCounted        = 100 // their sum, in items
)

// CountCategories returns the counts of a feed's categories once it has these new
// items as well, each of which counts for 1, shared by its categories; spam does
// not count. When they count for more than 100 in all, all are halved, so that
// what was long ago weighs less and less. The ten largest are kept, of equals
// those that come first by name. It leaves counts as it is; nil is empty, and
// returned for empty.
func CountCategories(counts map[string]float64, items ...Item) map[string]float64 {
	counted := maps.Clone(counts)
	for _, item := range items {
		if item.Spam {
			continue
		}
		for _, category := range item.Categories {
			if counted == nil {
				counted = map[string]float64{}
			}
			counted[category] += 1 / float64(len(item.Categories))
		}
		fade(counted)
	}
	return largest(counted)
}

// addCategories returns the counts of two feeds that become one.
func addCategories(a, b map[string]float64) map[string]float64 {
	sum := maps.Clone(a)
	if sum == nil {
		sum = map[string]float64{}
	}
	for category, n := range b {
		sum[category] += n
	}
	fade(sum)
	return largest(sum)
}

// fade halves the counts until they are within bounds.
func fade(counts map[string]float64) {
	for {
		sum := 0.0
		for _, category := range slices.Sorted(maps.Keys(counts)) { // in any other order it may differ in the last bit
			sum += counts[category]
		}
		if sum <= maxCounted {
			return
		}
		for category := range counts {
			counts[category] /= 2
		}
	}
}

// largest drops what is beyond the largest counts.
func largest(counts map[string]float64) map[string]float64 {
	if len(counts) == 0 {
		return nil
	}
	byCount := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, category := range byCount[min(len(byCount), maxFeedCategories):] {
		delete(counts, category)
	}
	return counts
}
