package service

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// BenchmarkStories lists stories of a store on disk, the twenty largest of which
// have two hundred items each, and shows the largest.
func BenchmarkStories(b *testing.B) {
	store, err := sqlite.Open(b.Context(), b.TempDir()+"/store.db")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	feed := storage.Feed{ID: storage.FeedID("https://f.example/"), URL: "https://f.example/", Title: "F"}
	if _, err := store.AddFeeds(b.Context(), feed); err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("The kernel has a new scheduler for machines with many cores. ", 40)
	var largest string
	for n := range 2000 {
		size := 10
		if n < 20 {
			size = 200
		}
		batch := storage.Batch{FeedID: feed.ID}
		for k := range size {
			i := storage.Item{
				FeedID: feed.ID, Key: fmt.Sprint(n, "-", k), Title: fmt.Sprint("Kernel released ", n), HTML: "<p>" + text, Excerpt: text[:240],
				Language: "en", Partition: "en", URL: fmt.Sprintf("https://h%d.example/%d", k%30, n), Published: now, FirstSeen: now.Add(time.Duration(k) * 10 * time.Minute),
				Categories: []string{"operating-systems"},
			}
			i.ID, i.Hash = storage.ItemID(feed.ID, i.Key), i.Key
			begin := storage.ItemID(feed.ID, fmt.Sprint(n, "-", k-k%20))
			i.EventID, i.StoryID = storage.EventID(begin), storage.StoryID(storage.EventID(storage.ItemID(feed.ID, fmt.Sprint(n, "-0"))))
			batch.Items = append(batch.Items, i)
		}
		if _, err := store.PutItems(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		id := batch.Items[0].StoryID
		if n == 0 {
			largest = id
		}
		of, err := storage.ItemsOfStory(b.Context(), store, id, placement.MaxItems)
		if err != nil {
			b.Fatal(err)
		}
		story, _ := placement.Summarize(id, of, func(string) float64 { return 1 }, false, now)
		if err := store.PutStories(b.Context(), storage.Fence{}, nil, []storage.Story{story}, nil); err != nil {
			b.Fatal(err)
		}
	}
	s := New(Deps{Store: store, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
	for _, sort := range []string{"rank", "newest"} {
		b.Run("a page by "+sort, func(b *testing.B) {
			for b.Loop() {
				if page, err := s.Stories.List(b.Context(), wire.StorySearch{Sort: sort, Sources: 2, Limit: 20}); err != nil || len(page.Stories) != 20 {
					b.Fatal(len(page.Stories), err)
				}
			}
		})
	}
	b.Run("one whole", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Stories.Get(b.Context(), wire.ByID{ID: largest}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("related", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Stories.Related(b.Context(), wire.ListRelatedRequest{ID: storage.ItemID(feed.ID, "0-7"), Limit: 5}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
