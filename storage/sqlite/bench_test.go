package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// batchSize is the number of items per document in the benchmarks.
const batchSize = 20

// benchItem returns item n of its feed, as from a feed with excerpts.
func benchItem(feedID string, n, htmlBytes int) storage.Item {
	url := fmt.Sprintf("https://example.org/2026/03/%d-a-title-of-middle-length", n)
	at := time.UnixMicro(1_772_000_000_000_000 + int64(n)*1_000_000)
	sentence := fmt.Sprintf("<p>Item %d says something about servers, and then says more of it.</p>", n)
	id := storage.ItemID(feedID, url)
	return storage.Item{
		ID: id, FeedID: feedID, Key: url, Hash: id, URL: url, Title: "A title of middle length that says something",
		HTML: strings.Repeat(sentence, 1+htmlBytes/len(sentence))[:htmlBytes], Excerpt: sentence[3 : len(sentence)-4],
		Author: "Ann Author", Language: "en", Tags: []string{"servers", "software"},
		Published: at, FirstSeen: at, Categories: []string{"software"}, Reasons: []string{`software: "servers" in the title`},
		Partition: "en", TextHash: id, EventID: storage.EventID(id), StoryID: storage.StoryID(storage.EventID(id)),
	}
}

func benchStore(b *testing.B) (s *sqlite.Store, path, feedID string) {
	path = filepath.Join(b.TempDir(), "store.db")
	s = open(b, path)
	b.Cleanup(func() { s.Close() })
	url := "https://example.org/feed"
	feedID = storage.FeedID(url)
	if _, err := s.AddFeeds(b.Context(), storage.Feed{ID: feedID, URL: url}); err != nil {
		b.Fatal(err)
	}
	return s, path, feedID
}

func fill(b *testing.B, s *sqlite.Store, feedID string, from, n, htmlBytes int) {
	for ; n > 0; n -= batchSize {
		batch := storage.Batch{FeedID: feedID}
		for range batchSize {
			batch.Items = append(batch.Items, benchItem(feedID, from, htmlBytes))
			from++
		}
		if _, err := s.PutItems(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutItems stores batches of new items; one operation is one batch.
func BenchmarkPutItems(b *testing.B) {
	for _, htmlBytes := range []int{200, 2000} {
		b.Run(fmt.Sprintf("html=%d", htmlBytes), func(b *testing.B) {
			s, path, feedID := benchStore(b)
			b.ResetTimer()
			fill(b, s, feedID, 0, b.N*batchSize, htmlBytes)
			b.StopTimer()
			items := float64(b.N * batchSize)
			b.ReportMetric(items/b.Elapsed().Seconds(), "items/s")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			file, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(file.Size())/items, "bytes/item")
		})
	}
}

// BenchmarkItemHashes looks up the keys of one document, half of them stored.
func BenchmarkItemHashes(b *testing.B) {
	s, _, feedID := benchStore(b)
	fill(b, s, feedID, 0, 20_000, 200)
	for b.Loop() {
		keys := make([]string, batchSize)
		for i := range keys {
			keys[i] = benchItem(feedID, 19_990+i, 0).Key
		}
		if hashes, err := s.ItemHashes(b.Context(), feedID, keys); err != nil || len(hashes) != batchSize/2 {
			b.Fatalf("%d keys are stored, %v", len(hashes), err)
		}
	}
}

// BenchmarkItem reads one item.
func BenchmarkItem(b *testing.B) {
	s, _, feedID := benchStore(b)
	fill(b, s, feedID, 0, 20_000, 2000)
	n := 0
	for b.Loop() {
		n = (n + 7919) % 20_000
		if _, err := storage.ItemByID(b.Context(), s, benchItem(feedID, n, 0).ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStamps counts 100,000 items by day, and pages over one day.
func BenchmarkStamps(b *testing.B) {
	s, _, feedID := benchStore(b)
	fill(b, s, feedID, 0, 100_000, 2000)
	b.Run("days", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Days(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			day, after := storage.Day(benchItem(feedID, 0, 0).FirstSeen), ""
			for {
				page, err := s.Stamps(b.Context(), day, after, 1000)
				if err != nil {
					b.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				after = page[len(page)-1].ID
			}
		}
	})
}

// BenchmarkMoveFeed moves 100,000 items to another feed, which is new or contains half of them already.
func BenchmarkMoveFeed(b *testing.B) {
	for name, there := range map[string]int{"renamed": 0, "half dropped": 50_000} {
		b.Run(name, func(b *testing.B) {
			s, _, from := benchStore(b)
			fill(b, s, from, 0, 100_000, 2000)
			const url = "https://example.org/other"
			if _, err := s.AddFeeds(b.Context(), storage.Feed{ID: storage.FeedID(url), URL: url}); err != nil {
				b.Fatal(err)
			}
			fill(b, s, storage.FeedID(url), 0, there, 2000)
			b.ResetTimer()
			for n := range b.N {
				to := url
				if n > 0 {
					to = fmt.Sprint(url, n)
				}
				if _, err := s.MoveFeed(b.Context(), from, to); err != nil {
					b.Fatal(err)
				}
				from = storage.FeedID(to)
			}
		})
	}
}
