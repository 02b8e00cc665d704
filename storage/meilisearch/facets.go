package meilisearch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"feedmesh/storage"
)

// dayFacet is the entry of [storage.FacetNames] whose values are in the form of latestOf.
const dayFacet = "day"

// facetsOf returns the most frequent values of each facet, and the latest days.
func facetsOf(found map[string]map[string]int64) (map[string][]storage.FacetCount, error) {
	facets := make(map[string][]storage.FacetCount)
	for _, facet := range storage.FacetNames {
		if facet == dayFacet {
			continue
		}
		counts := []storage.FacetCount{}
		for value, n := range found[facet] {
			counts = append(counts, storage.FacetCount{Value: value, Count: n})
		}
		slices.SortFunc(counts, func(a, b storage.FacetCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
		})
		facets[facet] = counts[:min(len(counts), storage.MaxFacet)]
	}
	days, err := daysOf(found[string(attrLatest)])
	facets[dayFacet] = days
	return facets, err
}

// daysOf returns the latest days first, from counts by latestOf.
func daysOf(latest map[string]int64) ([]storage.FacetCount, error) {
	days := []storage.FacetCount{}
	for value, n := range latest {
		before, err := strconv.Atoi(value)
		if err != nil {
			return nil, fmt.Errorf("a day is %q", value)
		}
		days = append(days, storage.FacetCount{Value: lastDay.AddDate(0, 0, -before).Format(time.DateOnly), Count: n})
	}
	slices.SortFunc(days, func(a, b storage.FacetCount) int { return cmp.Compare(b.Value, a.Value) })
	return days[:min(len(days), storage.MaxDays)], nil
}
