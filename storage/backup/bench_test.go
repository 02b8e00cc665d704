package backup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedmesh/storage/sqlite"
)

// BenchmarkCreate measures a backup of 100,000 items, and how long batches of 20 items take to store beside it and
// before it.
func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	s := openStore(b, dir)
	defer s.Close()
	n := 0
	for ; n < 100_000/batchSize; n++ {
		if err := putBatch(b.Context(), s, n); err != nil {
			b.Fatal(err)
		}
	}
	p99 := func(until func() bool) float64 {
		n = putUntil(b, s, n, until)
		return took.p99()
	}
	started := time.Now()
	alone := p99(func() bool { return time.Since(started) > 5*time.Second })
	b.ResetTimer()
	for b.Loop() {
		done := make(chan error, 1)
		began := time.Now()
		go func() {
			_, err := Create(context.Background(), filepath.Join(dir, "backup.db"), sourceIn(dir))
			done <- err
		}()
		var err error
		beside := p99(func() bool {
			select {
			case err = <-done:
				return true
			default:
				return false
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		info, err := Verify(b.Context(), filepath.Join(dir, "backup.db"))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/backup")
		b.ReportMetric(float64(info.Size)/(1<<20), "MB")
		b.ReportMetric(alone, "put-p99-ms-alone")
		b.ReportMetric(beside, "put-p99-ms-beside")
		b.ReportMetric(float64(len(took)), "puts-beside")
	}
}

// took are durations of puts.
var took durations

type durations []time.Duration

func (d durations) p99() float64 {
	slices.Sort(d)
	return d[len(d)*99/100].Seconds() * 1000
}

// putUntil stores batches, from number n on, with a pause as long as each took, and returns the next number.
func putUntil(b *testing.B, s *sqlite.Store, n int, until func() bool) int {
	took = nil
	for ; !until(); n++ {
		began := time.Now()
		if err := putBatch(b.Context(), s, n); err != nil {
			b.Fatal(fmt.Errorf("batch %d: %w", n, err))
		}
		took = append(took, time.Since(began))
		time.Sleep(time.Since(began))
	}
	return n
}
