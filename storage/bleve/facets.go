package bleve

import (
	"cmp"
	"slices"

	"feedmesh/storage"
)

// Facets counts what was found by each of [storage.FacetNames].
type facets struct {
	texts  [][]string // of the values, by number
	counts [][]uint32 // by the same
}

// newFacets returns counters for the values that the segments have.
func (c *columnCache) newFacets() *facets {
	f := &facets{}
	for i := range storage.FacetNames {
		texts := c.values[i].all()
		f.texts, f.counts = append(f.texts, texts), append(f.counts, make([]uint32, max(1, len(texts))))
	}
	return f
}

// add counts documents of a segment.
func (f *facets) add(s *segment, docs []uint32) {
	for i := range s.facets {
		counts, column := f.counts[i], &s.facets[i]
		if column.start == nil {
			for _, doc := range docs {
				counts[column.value[doc]]++
			}
			continue
		}
		for _, doc := range docs {
			for _, value := range column.of(doc) {
				counts[value]++
			}
		}
	}
}

// results returns the counts as [storage.Results] has them.
func (f *facets) results() map[string][]storage.FacetCount {
	results := make(map[string][]storage.FacetCount)
	for i, name := range storage.FacetNames {
		order, limit := mostFrequent, storage.MaxFacet
		if name == "day" {
			order, limit = latest, storage.MaxDays
		}
		results[name] = f.first(i, order, limit)
	}
	return results
}

func mostFrequent(a, b storage.FacetCount) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
}

func latest(a, b storage.FacetCount) int { return cmp.Compare(b.Value, a.Value) }

// first returns the first of a facet's values that were found.
func (f *facets) first(facet int, order func(a, b storage.FacetCount) int, limit int) []storage.FacetCount {
	first := make([]storage.FacetCount, 0, limit+1)
	for n, count := range f.counts[facet] {
		if n == 0 || count == 0 {
			continue
		}
		one := storage.FacetCount{Value: f.texts[facet][n], Count: int64(count)}
		if len(first) == limit && order(one, first[limit-1]) > 0 {
			continue // as most of thousands
		}
		at, _ := slices.BinarySearchFunc(first, one, order)
		if first = slices.Insert(first, at, one); len(first) > limit {
			first = first[:limit]
		}
	}
	return first
}
