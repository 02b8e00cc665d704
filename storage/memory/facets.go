package memory

import (
	"cmp"
	"slices"

	"feedmesh/storage"
)

// facetsOf counts the matches by each of the facets.
func facetsOf(found []match) map[string][]storage.FacetCount {
	counts := make(facetCounts)
	for _, m := range found {
		doc := m.item.doc
		counts.add("feed", doc.Feed)
		counts.add("language", doc.Language)
		counts.add("sentiment", m.item.sentiment)
		counts.add("day", day(doc.Published))
		for _, category := range doc.Categories {
			counts.add("category", category)
		}
		for _, topic := range doc.Topics {
			counts.add("topic", topic)
		}
	}
	return counts.top()
}

// facetCounts counts matches by facet and value.
type facetCounts map[string]map[string]int64

func (f facetCounts) add(facet, value string) {
	if value == "" {
		return
	}
	if f[facet] == nil {
		f[facet] = make(map[string]int64)
	}
	f[facet][value]++
}

// top returns the most frequent values of each facet, and the latest days.
func (f facetCounts) top() map[string][]storage.FacetCount {
	top := make(map[string][]storage.FacetCount)
	for _, facet := range storage.FacetNames {
		order, most := byCount, storage.MaxFacet
		if facet == "day" {
			order, most = latest, storage.MaxDays
		}
		top[facet] = topOf(f[facet], order, most)
	}
	return top
}

// topOf returns at most so many counts in the given order. An empty result is not nil.
func topOf(byValue map[string]int64, order func(a, b storage.FacetCount) int, most int) []storage.FacetCount {
	counts := []storage.FacetCount{}
	for value, n := range byValue {
		counts = append(counts, storage.FacetCount{Value: value, Count: n})
	}
	slices.SortFunc(counts, order)
	return first(counts, most)
}

func byCount(a, b storage.FacetCount) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
}

func latest(a, b storage.FacetCount) int { return cmp.Compare(b.Value, a.Value) }
