package storage

import (
	"cmp"
	"maps"
	"slices"
)

// Limits of a feed's category counts.
const (
	maxFeedCategories = 10
	maxCategorySum    = 100 // maximum sum, in items
)

// CountCategories adds new items to a feed's category counts. Each item counts for 1, shared by its
// categories; spam is ignored. When the sum exceeds 100, all counts are halved, so that older items weigh
// less. The ten largest counts are kept, ties by name. The argument is not modified. A nil map is empty, and
// an empty result is nil.
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
		halveToLimit(counted)
	}
	return keepLargest(counted)
}

// addCategories returns the category counts of two merged feeds.
func addCategories(a, b map[string]float64) map[string]float64 {
	sum := maps.Clone(a)
	if sum == nil {
		sum = map[string]float64{}
	}
	for category, n := range b {
		sum[category] += n
	}
	halveToLimit(sum)
	return keepLargest(sum)
}

// halveToLimit halves the counts until their sum is within bounds.
func halveToLimit(counts map[string]float64) {
	for {
		sum := 0.0
		for _, category := range slices.Sorted(maps.Keys(counts)) { // a fixed order, because floating-point sums depend on it
			sum += counts[category]
		}
		if sum <= maxCategorySum {
			return
		}
		for category := range counts {
			counts[category] /= 2
		}
	}
}

// keepLargest keeps only the largest counts.
func keepLargest(counts map[string]float64) map[string]float64 {
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
