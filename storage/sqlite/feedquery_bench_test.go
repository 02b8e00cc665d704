package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"feedmesh/storage"
)

// BenchmarkFindFeeds finds a page among 50,000 feeds with titles, tags and categories.
func BenchmarkFindFeeds(b *testing.B) {
	ctx := b.Context()
	s, err := Open(ctx, filepath.Join(b.TempDir(), "store.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	feeds := make([]storage.Feed, 50_000)
	for i := range feeds {
		url := fmt.Sprintf("https://host%d.example/feeds/%d/rss.xml", i%5000, i)
		feeds[i] = storage.Feed{
			ID: storage.FeedID(url), URL: url, Title: fmt.Sprintf("Новости и News %d", i*7919%50_000), Site: fmt.Sprintf("https://host%d.example/", i%5000),
			Tags: []string{"news", fmt.Sprintf("tag %d", i%40)}, Added: time.Unix(int64(i), 0),
		}
	}
	for chunk := range slices.Chunk(feeds, 1000) {
		if _, err := s.AddFeeds(ctx, chunk...); err != nil {
			b.Fatal(err)
		}
	}
	for name, q := range map[string]storage.FeedQuery{
		"title": {Sort: storage.FeedsByTitle}, "items": {Sort: storage.FeedsByItems}, "added": {Sort: storage.FeedsByAdded}, "newest": {Sort: storage.FeedsByLast},
		"text by title": {Text: "новости и news 1234", Sort: storage.FeedsByTitle}, "text by items": {Text: "НОВОСТИ И NEWS 1234", Sort: storage.FeedsByItems},
		"no such text": {Text: "nothing", Sort: storage.FeedsByTitle}, "tag": {Tag: "tag 7", Sort: storage.FeedsByTitle}, "no such tag": {Tag: "none", Sort: storage.FeedsByTitle},
		"a tag of all": {Tag: "news", Sort: storage.FeedsByTitle}, "host": {Host: "host77.example", Sort: storage.FeedsByTitle},
		"a late page": {Sort: storage.FeedsByTitle, After: storage.FeedsByTitle.Position(feeds[37])},
	} {
		q.Limit = 51
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.FindFeeds(ctx, q); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("count "+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.CountFeeds(ctx, q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("tags", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.FeedTags(ctx, 200); err != nil {
				b.Fatal(err)
			}
		}
	})
}
