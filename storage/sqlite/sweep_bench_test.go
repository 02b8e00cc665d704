package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"feedmesh/storage"
)

// BenchmarkFirstSweep stores documents of many feeds with 32 concurrent workers. One operation is one
// document of 20 items of 2 KB. Results are meaningful from about 10,000 operations.
func BenchmarkFirstSweep(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "store.db"))
	defer s.Close()
	const feeds = 10_000
	ids := make([]string, feeds)
	for n := range ids {
		url := fmt.Sprintf("https://example.org/feed/%d", n)
		ids[n] = storage.FeedID(url)
		if _, err := s.AddFeeds(b.Context(), storage.Feed{ID: ids[n], URL: url}); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cpu, written := cpuTime(), bytesWritten(b)
	b.ResetTimer()
	documents := make(chan int)
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for n := range documents {
				batch := storage.Batch{FeedID: ids[n%feeds]}
				for i := range batchSize {
					item := benchItem(batch.FeedID, n/feeds*batchSize+i, 2000)
					item.FirstSeen = start.Add(time.Duration(n) * time.Millisecond)
					batch.Items = append(batch.Items, item)
				}
				if _, err := s.PutItems(b.Context(), batch); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for n := range b.N {
		documents <- n
	}
	close(documents)
	group.Wait()
	b.StopTimer()
	items := float64(b.N * batchSize)
	b.ReportMetric((cpuTime()-cpu)/items, "cpu-us/item")
	b.ReportMetric(float64(bytesWritten(b)-written)/items, "written-bytes/item")
}

// cpuTime returns the CPU time of this process in microseconds.
func cpuTime() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e3
}

// bytesWritten returns the number of bytes that this process has written to files.
func bytesWritten(b *testing.B) int64 {
	io, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip(err)
	}
	_, rest, _ := bytes.Cut(io, []byte("\nwrite_bytes: "))
	number, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}
