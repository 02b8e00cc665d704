package sqlite_test

import (
	"testing"
	"time"
)

// BenchmarkActivity counts the items of two days with 86,400 items each.
func BenchmarkActivity(b *testing.B) {
	s, _, feedID := benchStore(b)
	const items = 2 * 86_400
	fill(b, s, feedID, 0, items, 2000)
	since := benchItem(feedID, 0, 0).FirstSeen
	for b.Loop() {
		got, err := s.Activity(b.Context(), since, since.Add(items*time.Second), time.UTC)
		if err != nil || got.Items != items {
			b.Fatalf("got %d items, %v; want %d", got.Items, err, items)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/items*1e6, "µs/item")
}
