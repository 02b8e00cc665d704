package meilisearch

import (
	"testing"

	"feedmesh/storage/indextest"
)

// BenchmarkDocument measures the encoding of a document of some 2 KB of text.
func BenchmarkDocument(b *testing.B) {
	items := indextest.NewItemGenerator(1).Items(200)
	size := 0
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		size += len(documentOf(&items[n%len(items)]))
	}
	b.ReportMetric(float64(size)/float64(b.N), "bytes/document")
}
