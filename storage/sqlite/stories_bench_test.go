package sqlite_test

import (
	"fmt"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/storage/indextest"
)

// BenchmarkListStories reads first pages of 200,000 stories. One in 40 has the common topic, one in 50,000
// the rare one.
func BenchmarkListStories(b *testing.B) {
	s, _, _ := benchStore(b)
	const count = 200_000
	for n := 0; n < count; n += 1000 {
		var stories []storage.Story
		for i := n; i < n+1000; i++ {
			stories = append(stories, benchStory(i))
		}
		if err := s.PutStories(b.Context(), storage.Fence{}, nil, stories, nil); err != nil {
			b.Fatal(err)
		}
	}
	for name, q := range map[string]storage.StoryQuery{
		"first": {}, "common topic": {Topic: "topic-7"}, "rare topic": {Topic: "rare"}, "no topic": {Topic: "none"},
		"lane": {Partition: "ru"}, "no lane": {Partition: "none"}, "category": {Category: "category-3", Sources: 3},
	} {
		for _, q.Newest = range []bool{false, true} {
			b.Run(fmt.Sprintf("%s newest=%t", name, q.Newest), func(b *testing.B) {
				indextest.MeasureTimes(b, func() error {
					_, _, err := s.ListStories(b.Context(), q)
					return err
				})
			})
		}
	}
}

// BenchmarkReadStories reads 20 stories of 20 items, as before their summaries.
func BenchmarkReadStories(b *testing.B) {
	const size, read, stories = 20, 20, 200
	s, _, feedID := benchStore(b)
	var ids []string
	for n := range stories {
		ids = append(ids, storage.StoryID(fmt.Sprint(n)))
		batch := storage.Batch{FeedID: feedID}
		for i := range size {
			item := benchItem(feedID, n*size+i, 2000)
			item.StoryID = ids[n]
			batch.Items = append(batch.Items, item)
		}
		if _, err := s.PutItems(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = (n + read) % stories
		found, err := s.ReadStories(b.Context(), 50, ids[n:n+read]...)
		if err != nil || len(found) != read || len(found[ids[n]].Items) != size {
			b.Fatal(len(found), err)
		}
	}
}

// benchStory returns story n.
func benchStory(n int) storage.Story {
	at := time.UnixMicro(1_772_000_000_000_000 + int64(n*7919%200_000)*1_000_000)
	s := storage.Story{
		ID: storage.StoryID(fmt.Sprint(n)), Partition: []string{"en", "ru", "de", "fr"}[n%4], Headline: storage.ItemID("feed", fmt.Sprint(n)),
		Title: "A title of middle length that says something", Items: 5, Events: 2, Sources: 2 + n%5, FirstSeen: at, LastSeen: at.Add(time.Hour),
		Categories: []string{fmt.Sprint("category-", n%12)}, Topics: []string{fmt.Sprint("topic-", n%40), fmt.Sprint("topic-", n%250)},
		Rank: float64(n * 104729 % 1_000_003), Summarized: at,
	}
	for range 3 {
		s.Summary = append(s.Summary, storage.Line{Text: "A sentence of a summary that is as long as they are, more or less.", ItemID: s.Headline})
	}
	if n%50_000 == 13 {
		s.Topics = append(s.Topics, "rare")
	}
	return s
}
