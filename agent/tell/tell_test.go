package tell

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

// told returns a story of items that came one after another, newest first as a store
// has it.
func told(items ...storage.Item) storage.Told {
	for n := range items {
		items[n].ID = fmt.Sprint("i", n)
		items[n].FirstSeen = noon.Add(time.Duration(n) * time.Hour)
		items[n].Lane, items[n].Language = "en", "en"
	}
	last := items[len(items)-1].FirstSeen
	slices.Reverse(items)
	return storage.Told{Items: items, Count: len(items), Events: 1, First: noon, Last: last}
}

func TestAStoryIsToldByItsItems(t *testing.T) {
	s, ok := Story("s", told(
		storage.Item{Title: "Kernel 6.12 is out with real time scheduling", URL: "https://www.one.example/a", Excerpt: "The new kernel brings real time scheduling to everyone at last. It took twenty years.", Categories: []string{"os"}, Topics: []string{"linux", "real-time"}},
		storage.Item{Title: "Linux kernel 6.12 brings real time scheduling", URL: "https://two.example/b", Excerpt: "After two decades of patches the real time scheduler is part of the kernel that everybody runs.", Categories: []string{"os", "hardware"}, Topics: []string{"linux"}},
		storage.Item{Title: "Weather", URL: "https://one.example/c", Categories: []string{"os"}},
	), one, true, noon.Add(5*time.Hour))
	if !ok || s.ID != "s" || s.Items != 3 || s.Sources != 2 || s.Lane != "en" || !s.Burst {
		t.Fatalf("got %+v, want a story of three items of two publishers", s)
	}
	if s.Headline == "i2" || s.Title == "Weather" {
		t.Errorf("got the headline %q, want one that is like the others", s.Title)
	}
	if len(s.Summary) != 2 || s.Summary[0].ItemID != s.Headline || s.Summary[1].ItemID == s.Headline {
		t.Errorf("got the summary %+v, want the headline's lead and a sentence of the other publisher", s.Summary)
	}
	if !slices.Equal(s.Categories, []string{"os", "hardware"}) || !slices.Equal(s.Topics, []string{"linux", "real-time"}) {
		t.Errorf("got %v and %v, want what a third of the items agree on, most named first", s.Categories, s.Topics)
	}
	if !s.FirstSeen.Equal(noon) || !s.LastSeen.Equal(noon.Add(2*time.Hour)) || !s.Told.Equal(noon.Add(5*time.Hour)) {
		t.Errorf("got %+v, want the times of the first and last item, and of now", s)
	}
}

func TestOneItemIsNoStoryToBeTold(t *testing.T) {
	of := told(
		storage.Item{Title: "Buy now", Spam: true},
		storage.Item{Title: "Sponsored", Flags: []string{storage.Muted}},
		storage.Item{Title: "Kernel 6.12 is out"},
	)
	if s, ok := Story("s", of, one, false, noon); ok {
		t.Errorf("got %+v of spam, a muted item and one other", s)
	}
}

// Who is known to tell early of what others tell too counts more; who only repeats,
// less.
func TestWhoTellsCounts(t *testing.T) {
	items := func() storage.Told {
		return told(storage.Item{Title: "A", FeedID: "f", URL: "https://one.example/"}, storage.Item{Title: "B", FeedID: "g", URL: "https://two.example/"})
	}
	plain, _ := Story("s", items(), one, false, noon)
	trusted, _ := Story("s", items(), func(feed string) float64 { return map[string]float64{"f": 1, "g": 3}[feed] }, false, noon)
	repeats := items()
	repeats.Items[0].DuplicateOf = "i0"
	copied, _ := Story("s", repeats, one, false, noon)
	if trusted.Rank <= plain.Rank || copied.Rank >= plain.Rank {
		t.Errorf("got ranks %f, %f with a better publisher, %f with a copy", plain.Rank, trusted.Rank, copied.Rank)
	}
}

func TestWhoPublishedIsToldByTheAddress(t *testing.T) {
	for _, test := range []struct{ url, want string }{
		{"https://www.Example.org/a", "example.org"}, {"http://blog.example.org:8080/a", "blog.example.org"}, {"", "feed"}, {"mailto:a@b.example", "feed"}, {"::", "feed"},
	} {
		if got := Publisher(storage.Item{URL: test.url, FeedID: "feed"}); got != test.want {
			t.Errorf("%s: got %s, want %s", test.url, got, test.want)
		}
	}
}

func TestAPlaceIsWrittenAndReadBack(t *testing.T) {
	repeats := near.Placed{Of: "a", By: "title", Score: 0.9, Why: "same title"}
	belongs := story.Placement{EventID: "e", StoryID: "s", Why: story.Why{By: "first"}}
	var i storage.Item
	Put(&i, repeats, belongs)
	if got := Repeats(i); got != repeats {
		t.Errorf("got %+v, want %+v", got, repeats)
	}
	if got := Belongs(i); got.EventID != "e" || got.StoryID != "s" || i.StoryWhy == "" {
		t.Errorf("got %+v because %q, want the event and the story, and why", got, i.StoryWhy)
	}
}

func TestAnItemIsPlacedByItsWords(t *testing.T) {
	i := storage.Item{ID: "i", FeedID: "f", Title: "Kernel 6.12 is out", URL: "https://one.example/a?utm_source=x", TextHash: "h", Language: "en", FirstSeen: noon, DuplicateOf: "a"}
	settings := near.Default()
	if m := Mark(i, "text", &settings); m.ItemID != "i" || m.FeedID != "f" || m.URLKey != near.URLKey(i.URL) || m.TextHash != "h" || m.Sketch == nil || !m.Seen.Equal(noon) {
		t.Errorf("got %+v", m)
	}
	if w := Item(i, "text"); w.ID != "i" || w.Title != i.Title || w.Text != "text" || w.Host != "one.example" || w.Repeats != "a" || w.Language != "en" || !w.Seen.Equal(noon) {
		t.Errorf("got %+v", w)
	}
}
