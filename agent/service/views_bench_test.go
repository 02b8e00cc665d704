package service

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/sqlite"
)

// BenchmarkPreview previews views of 100,000 items of 1,000 feeds in SQLite and Bleve, as the editor does while the text
// changes: each time another definition, whose results are not cached. It prints the median and the 95th percentile.
func BenchmarkPreview(b *testing.B) {
	s := filledService(b, 100_000)
	ctx := access.With(b.Context(), access.Client{ID: access.LocalID, Scopes: access.Scopes})
	for _, definition := range []string{
		"view base for everyone = from tag:tag3, tag:tag4 where word40",
		"view first for everyone = from all where word60 once story",
	} {
		name := strings.Fields(definition)[1]
		if _, err := s.Views.Save(ctx, wire.SaveViewRequest{Name: name, Body: wire.ViewSetting{Definition: definition}}); err != nil {
			b.Fatal(err)
		}
	}
	for _, of := range []struct{ name, definition string }{
		{"all", "view p = from all limit %d"},
		{"word", "view p = from all where word%d"},
		{"words", "view p = from all where word%d OR (word7 -word9) once story window 7d"},
		{"tag", "view p = from tag:tag1, tag:tag2 where word%d"},
		{"views", "view p = from view:base, view:first where -word%d"},
		{"unique", "view p = from all where word%d unique 60%%"},
		{"join", "view p = from all join view:first within 3d where word%d"},
	} {
		b.Run(of.name, func(b *testing.B) {
			var times []float64
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				in := wire.PreviewViewRequest{Body: wire.ViewSetting{Definition: fmt.Sprintf(of.definition, i%200+20)}}
				if _, err := s.Views.Preview(ctx, in); err != nil {
					b.Fatal(err)
				}
				times = append(times, float64(time.Since(began).Microseconds())/1000)
			}
			slices.Sort(times)
			b.ReportMetric(times[len(times)/2], "p50-ms")
			b.ReportMetric(times[len(times)*95/100], "p95-ms")
		})
	}
}

// filledService returns a service with n items of 150 words, whose frequencies are those of a language by Zipf's law.
func filledService(b *testing.B, n int) *Service {
	b.Helper()
	const feeds = 1000
	dir := b.TempDir()
	store, err := sqlite.Open(b.Context(), filepath.Join(dir, "store.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	index, err := bleve.Open(filepath.Join(dir, "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { index.Close() })
	list := make([]storage.Feed, feeds)
	for f := range list {
		url := fmt.Sprintf("https://f%d.example/", f)
		list[f] = storage.Feed{ID: storage.FeedID(url), URL: url, Title: fmt.Sprint("Publisher ", f), Tags: []string{fmt.Sprint("tag", f%20)}, Added: now}
	}
	if _, err := store.AddFeeds(b.Context(), list...); err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(random, 1.1, 10, 50_000)
	sentence := func(n int) string {
		var text strings.Builder
		for range n {
			fmt.Fprintf(&text, "word%d ", words.Uint64())
		}
		return text.String()
	}
	var fill errgroup.Group
	fill.SetLimit(50) // concurrent writes share a transaction
	for f, feed := range list {
		batch, indexed := storage.Batch{FeedID: feed.ID}, []storage.IndexItem(nil)
		for i := f; i < n; i += feeds {
			text, at := sentence(150), now.Add(-time.Duration(i)*time.Minute)
			item := storage.Item{
				FeedID: feed.ID, Key: fmt.Sprint(i), Hash: fmt.Sprint(i), URL: fmt.Sprint(feed.URL, i), Language: "en", Partition: "en", Title: sentence(8),
				HTML: "<p>" + text + "</p>", Excerpt: text[:200], Published: at, FirstSeen: at,
			}
			item.ID = storage.ItemID(feed.ID, item.Key)
			item.StoryID = storage.StoryID(storage.EventID(storage.ItemID(list[0].ID, fmt.Sprint(i/4))))
			batch.Items, indexed = append(batch.Items, item), append(indexed, storage.IndexItem{Item: item, Text: text})
		}
		fill.Go(func() error {
			if _, err := store.PutItems(b.Context(), batch); err != nil {
				return err
			}
			return index.Put(b.Context(), indexed...)
		})
	}
	if err := fill.Wait(); err != nil {
		b.Fatal(err)
	}
	return New(Deps{Store: store, Index: index, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
}
