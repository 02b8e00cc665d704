package storagetest

import (
	"slices"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// MeasurePut measures how fast an index takes batches of so many made-up items.
func MeasurePut(b *testing.B, x storage.Index, size int) {
	made := NewMaker(1)
	n := 0
	for b.Loop() {
		b.StopTimer()
		items := made.Items(size)
		b.StartTimer()
		if err := x.Put(b.Context(), items...); err != nil {
			b.Fatal(err)
		}
		n += size
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "items/s")
}

// MeasureSearches asks an index that has items of made's for words of theirs,
// and reports how long half of the searches take at most, and 99 of 100.
func MeasureSearches(b *testing.B, x storage.Index, made *Maker) {
	for _, bench := range []struct {
		name  string
		query func() storage.Query
	}{
		{"words", func() storage.Query { return storage.Query{Where: wordsOf(made.Sought() + " " + made.Sought())} }},
		{"word", func() storage.Query { return storage.Query{Where: wordsOf(made.Sought())} }},
		{"frequent", func() storage.Query { return storage.Query{Where: wordsOf(made.word())} }},
		{"twenty", func() storage.Query { return storage.Query{Where: wordsOf(made.text(20))} }},
		{"newest", func() storage.Query { return storage.Query{Where: wordsOf(made.Sought()), Newest: true} }},
		{"facets", func() storage.Query {
			return storage.Query{Where: all(wordsOf(made.Sought()), is(query.Language, "en")), Facets: true}
		}},
		{"since", func() storage.Query {
			return storage.Query{Where: all(wordsOf(made.Sought()), query.Time{From: made.date()})}
		}},
		{"all", func() storage.Query { return storage.Query{} }},
		{"all facets", func() storage.Query { return storage.Query{Facets: true} }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			MeasureTimes(b, func() error {
				_, err := x.Search(b.Context(), bench.query())
				return err
			})
		})
	}
}

// MeasureTimes calls call again and again, and reports how long half of the calls
// take at most, and 99 of 100.
func MeasureTimes(b *testing.B, call func() error) {
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
