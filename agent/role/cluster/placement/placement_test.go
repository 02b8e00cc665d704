package placement

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/classify/near"
	"feedmesh/classify/story"
	"feedmesh/storage"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func one(string) float64 { return 1 }

// storyItems returns the items of a story, published one hour apart, newest first as in a store.
func storyItems(items ...storage.Item) storage.StoryItems {
	for n := range items {
		items[n].ID = fmt.Sprint("i", n)
		items[n].FirstSeen = noon.Add(time.Duration(n) * time.Hour)
		items[n].Partition, items[n].Language = "en", "en"
	}
	last := items[len(items)-1].FirstSeen
	slices.Reverse(items)
	return storage.StoryItems{Items: items, Count: len(items), Events: 1, FirstSeen: noon, LastSeen: last}
}

func TestSummarize_HeadlineTopicsAndTimes(t *testing.T) {
	s, ok := Summarize("s", storyItems(
		storage.Item{Title: "Kernel 6.12 is out with real time scheduling", URL: "https://www.one.example/a", Excerpt: "Factories wait for a Linux kernel whose answers never come late. It took twenty years.", Categories: []string{"os"}, Topics: []string{"linux", "real-time"}},
		storage.Item{Title: "Linux kernel 6.12 brings real time scheduling", URL: "https://two.example/b", Excerpt: "After two decades of patches the real time scheduler is part of the kernel that everybody runs.", Categories: []string{"os", "hardware"}, Topics: []string{"linux"}},
		storage.Item{Title: "Weather", URL: "https://one.example/c", Categories: []string{"os"}},
	), one, true, noon.Add(5*time.Hour))
	if !ok || s.ID != "s" || s.Items != 3 || s.Sources != 2 || s.Partition != "en" || !s.Burst {
		t.Fatalf("got %+v, want a story of three items of two publishers", s)
	}
	if s.Headline == "i2" || s.Title == "Weather" {
		t.Errorf("got headline %q, want the most typical title", s.Title)
	}
	if len(s.Summary) != 2 || s.Summary[0].ItemID != s.Headline || s.Summary[1].ItemID == s.Headline {
		t.Errorf("got summary %+v, want the lead of the headline and a sentence of the other publisher", s.Summary)
	}
	if !slices.Equal(s.Categories, []string{"os", "hardware"}) || !slices.Equal(s.Topics, []string{"linux", "real-time"}) {
		t.Errorf("got %v and %v, want those of at least a third of the items, most frequent first", s.Categories, s.Topics)
	}
	if !s.FirstSeen.Equal(noon) || !s.LastSeen.Equal(noon.Add(2*time.Hour)) || !s.Summarized.Equal(noon.Add(5*time.Hour)) {
		t.Errorf("got %+v, want the times of the first item, the last item and the summary", s)
	}
}

func TestSummarize_NeedsTwoCountedItems(t *testing.T) {
	items := storyItems(
		storage.Item{Title: "Buy now", Spam: true},
		storage.Item{Title: "Sponsored", Flags: []string{storage.FlagMuted}},
		storage.Item{Title: "Kernel 6.12 is out"},
	)
	if s, ok := Summarize("s", items, one, false, noon); ok {
		t.Errorf("got %+v from one counted item, want none", s)
	}
}

// A higher feed weight raises the rank; duplicates lower it.
func TestSummarize_WeightsOfSources(t *testing.T) {
	items := func() storage.StoryItems {
		return storyItems(storage.Item{Title: "A", FeedID: "f", URL: "https://one.example/"}, storage.Item{Title: "B", FeedID: "g", URL: "https://two.example/"})
	}
	plain, _ := Summarize("s", items(), one, false, noon)
	trusted, _ := Summarize("s", items(), func(feed string) float64 { return map[string]float64{"f": 1, "g": 3}[feed] }, false, noon)
	repeats := items()
	repeats.Items[0].DuplicateOf = "i0"
	copied, _ := Summarize("s", repeats, one, false, noon)
	if trusted.Rank <= plain.Rank || copied.Rank >= plain.Rank {
		t.Errorf("got ranks %f, %f with a heavier feed, %f with a duplicate; want the second highest, the third lowest", plain.Rank, trusted.Rank, copied.Rank)
	}
}

func TestPublisher_HostOrFeed(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"https://www.Example.org/a", "example.org"}, {"http://blog.example.org:8080/a", "blog.example.org"}, {"", "feed"}, {"mailto:a@b.example", "feed"}, {"::", "feed"},
	} {
		if got := Publisher(storage.Item{URL: test.url, FeedID: "feed"}); got != test.want {
			t.Errorf("%s: got %s, want %s", test.url, got, test.want)
		}
	}
}

func TestApply_RoundTrip(t *testing.T) {
	repeats := near.Match{DuplicateOf: "a", By: "title", Score: 0.9, Reason: "same title"}
	belongs := story.Placement{EventID: "e", StoryID: "s", Reason: story.Reason{By: "first"}}
	var i storage.Item
	Apply(&i, repeats, belongs)
	if got := MatchOf(i); got != repeats {
		t.Errorf("got %+v, want %+v", got, repeats)
	}
	if got := PlacementOf(i); got.EventID != "e" || got.StoryID != "s" || i.StoryReason == "" {
		t.Errorf("got %+v, reason %q, want event, story and reason", got, i.StoryReason)
	}
}

func TestSignatureAndStoryItem(t *testing.T) {
	i := storage.Item{ID: "i", FeedID: "f", Title: "Kernel 6.12 is out", URL: "https://one.example/a?utm_source=x", TextHash: "h", Language: "en", FirstSeen: noon, DuplicateOf: "a"}
	settings := near.Default()
	if m := Signature(i, "text", &settings); m.ItemID != "i" || m.FeedID != "f" || m.URLKey != near.URLKey(i.URL) || m.TextHash != "h" || m.Sketch == nil || !m.Seen.Equal(noon) {
		t.Errorf("got %+v", m)
	}
	if w := StoryItem(i, "text"); w.ID != "i" || w.Title != i.Title || w.Text != "text" || w.Host != "one.example" || w.DuplicateOf != "a" || w.Language != "en" || !w.Seen.Equal(noon) {
		t.Errorf("got %+v", w)
	}
}
