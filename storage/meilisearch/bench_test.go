package meilisearch

import (
	"fmt"
	"testing"

	"feedmesh/storage/storagetest"
)

// BenchmarkPut indexes made-up items in batches, into an index that grows
// meanwhile.
func BenchmarkPut(b *testing.B) {
	for _, size := range []int{20, 200, 1000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			storagetest.MeasurePut(b, open(b, newOptions(b)), size)
		})
	}
}

// BenchmarkSearch asks an index of 50,000 made-up items.
func BenchmarkSearch(b *testing.B) {
	x, made := open(b, newOptions(b)), storagetest.NewMaker(1)
	for range 10 {
		if err := x.Put(b.Context(), made.Items(5000)...); err != nil {
			b.Fatal(err)
		}
	}
	storagetest.MeasureSearches(b, x, made)
}
