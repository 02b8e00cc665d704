package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

const (
	newsFeeds   = 2000
	newsStories = 4000
)

// newsItem returns item n of feed f: every second item is covered by several feeds.
func newsItem(f, n int) storage.Item {
	item := benchItem(newsFeed(f), n, 2000)
	item.FirstSeen = item.FirstSeen.Add(time.Duration(f) * time.Millisecond)
	if (f+n)%2 == 0 {
		item.StoryID = storage.StoryID(fmt.Sprint((f*31 + n*7919) % newsStories))
	}
	return item
}

func newsFeed(f int) string { return storage.FeedID(fmt.Sprintf("https://example.org/feed/%d", f)) }

// newsStore returns a store of 40,000 items in 2000 feeds, half of them in stories.
func newsStore(b *testing.B) *sqlite.Store {
	s := open(b, filepath.Join(b.TempDir(), "store.db"))
	b.Cleanup(func() { s.Close() })
	for f := range newsFeeds {
		url := fmt.Sprintf("https://example.org/feed/%d", f)
		if _, err := s.AddFeeds(b.Context(), storage.Feed{ID: newsFeed(f), URL: url}); err != nil {
			b.Fatal(err)
		}
	}
	putNews(b, s, 32, newsFeeds, func(f int) (items []storage.Item) {
		for n := range batchSize {
			items = append(items, newsItem(f, n))
		}
		return items
	})
	var stories []storage.Story
	for n := range newsStories {
		stories = append(stories, storage.Story{ID: storage.StoryID(fmt.Sprint(n)), Sources: 2, LastSeen: newsItem(newsFeeds, batchSize).FirstSeen})
	}
	if err := s.PutStories(b.Context(), storage.Fence{}, nil, stories, nil); err != nil {
		b.Fatal(err)
	}
	return s
}

// putNews stores a document of each of so many feeds, with so many concurrent workers.
func putNews(b *testing.B, s *sqlite.Store, atOnce, feeds int, items func(f int) []storage.Item) {
	for n := 0; n < feeds; n += atOnce {
		var group sync.WaitGroup
		for i := n; i < min(n+atOnce, feeds); i++ {
			group.Go(func() {
				f := i * 7919 % newsFeeds
				if _, err := s.PutItems(b.Context(), storage.Batch{FeedID: newsFeed(f), Title: "A feed", Items: items(f)}); err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
	}
}

// BenchmarkNews measures the store's operations for one new item in each of 2000 feeds. One operation is one
// feed, or one story, except for the last ones, which run only now and then.
func BenchmarkNews(b *testing.B) {
	s := newsStore(b)
	n := batchSize
	for _, atOnce := range []int{1, 4, 32} {
		b.Run(fmt.Sprintf("put, %d at once", atOnce), func(b *testing.B) {
			cpu, written := cpuTime(), bytesWritten(b)
			n++
			putNews(b, s, atOnce, b.N, func(f int) []storage.Item { return []storage.Item{newsItem(f, n)} })
			b.ReportMetric((cpuTime()-cpu)/float64(b.N), "cpu-us/item")
			b.ReportMetric(float64(bytesWritten(b)-written)/float64(b.N), "written-bytes/item")
		})
	}
	b.Run("item hashes", func(b *testing.B) {
		cpu := cpuTime()
		for f := range b.N {
			var keys []string
			for n := range batchSize {
				keys = append(keys, newsItem(f*7919%newsFeeds, n+1).Key)
			}
			if hashes, err := s.ItemHashes(b.Context(), newsFeed(f*7919%newsFeeds), keys); err != nil || len(hashes) < batchSize-1 {
				b.Fatal(len(hashes), err)
			}
		}
		b.ReportMetric((cpuTime()-cpu)/float64(b.N), "cpu-us/op")
	})
	b.Run("read stories", func(b *testing.B) {
		cpu, have := cpuTime(), 0
		for n := 0; n < b.N; n += 20 {
			var ids []string
			for i := range 20 {
				f := (n + i) * 7919 % newsFeeds
				ids = append(ids, newsItem(f, f%2).StoryID)
			}
			putNews(b, s, 1, 1, func(f int) []storage.Item { return []storage.Item{newsItem(f, 1000+n)} }) // which invalidates the page cache of the readers
			stories, err := s.ReadStories(b.Context(), 1000, ids...)
			if err != nil {
				b.Fatal(err)
			}
			for _, story := range stories {
				have += story.Count
			}
		}
		b.ReportMetric((cpuTime()-cpu)/float64(b.N), "cpu-us/story")
		b.ReportMetric(float64(have)/float64(b.N), "items/story")
	})
	b.Run("feed coverage", func(b *testing.B) {
		cpu := cpuTime()
		for range b.N {
			if reach, err := s.FeedCoverage(b.Context(), time.Unix(0, 0), 2); err != nil || len(reach) != newsFeeds {
				b.Fatal(len(reach), err)
			}
		}
		b.ReportMetric((cpuTime()-cpu)/1e3/float64(b.N), "cpu-ms/op")
	})
}
