package indextest

import (
	"slices"
	"testing"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// MeasurePut measures the throughput of batches of size generated items.
func MeasurePut(b *testing.B, x storage.Index, size int) {
	made := NewItemGenerator(1)
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

// MeasureSearches measures searches in an index filled with items of made, and reports the median and the
// 99th percentile.
func MeasureSearches(b *testing.B, x storage.Index, made *ItemGenerator) {
	for _, bench := range []struct {
		name  string
		query func() storage.Query
	}{
		{"words", func() storage.Query {
			return storage.Query{Where: wordsOf(made.SearchWord() + " " + made.SearchWord())}
		}},
		{"word", func() storage.Query { return storage.Query{Where: wordsOf(made.SearchWord())} }},
		{"frequent", func() storage.Query { return storage.Query{Where: wordsOf(made.word())} }},
		{"twenty", func() storage.Query { return storage.Query{Where: wordsOf(made.text(20))} }},
		{"newest", func() storage.Query { return storage.Query{Where: wordsOf(made.SearchWord()), Newest: true} }},
		{"facets", func() storage.Query {
			return storage.Query{Where: all(wordsOf(made.SearchWord()), is(query.Language, "en")), Facets: true}
		}},
		{"since", func() storage.Query {
			return storage.Query{Where: all(wordsOf(made.SearchWord()), query.TimeRange{From: made.date()})}
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

// MeasureTimes repeats call, and reports the median and the 99th percentile of its duration.
func MeasureTimes(b *testing.B, call func() error) {
	MeasureDurations(b, func() (time.Duration, error) {
		begin := time.Now()
		err := call()
		return time.Since(begin), err
	})
}

// MeasureDurations repeats call, and reports the median and the 99th percentile of the durations it returns.
func MeasureDurations(b *testing.B, call func() (time.Duration, error)) {
	var durations []time.Duration
	for b.Loop() {
		took, err := call()
		if err != nil {
			b.Fatal(err)
		}
		durations = append(durations, took)
	}
	slices.Sort(durations)
	b.ReportMetric(float64(durations[len(durations)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(durations[len(durations)*99/100].Microseconds()), "p99-µs")
}
