package bleve

import (
	"cmp"
	"slices"

	"feedmesh/storage"
)

// facets counts the found documents by each of [storage.FacetNames].
type facets struct {
	texts  [][]string // values, by number
	counts [][]uint32 // counts, by number
}

// newFacets returns counters for all values of the segments.
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

// results returns the counts in the form of [storage.Results].
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

// first returns the first limit values with a count, in order.
func (f *facets) first(facet int, order func(a, b storage.FacetCount) int, limit int) []storage.FacetCount {
	first := make([]storage.FacetCount, 0, limit+1)
	for n, count := range f.counts[facet] {
		if n == 0 || count == 0 {
			continue
		}
		one := storage.FacetCount{Value: f.texts[facet][n], Count: int64(count)}
		if len(first) == limit && order(one, first[limit-1]) > 0 {
			continue // the common case for thousands of values
		}
		at, _ := slices.BinarySearchFunc(first, one, order)
		if first = slices.Insert(first, at, one); len(first) > limit {
			first = first[:limit]
		}
	}
	return first
}
