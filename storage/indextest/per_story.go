package indextest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/storage"
)

// itemsOfStories returns one item for each given story. Later items are newer, and earlier items score higher.
func itemsOfStories(stories ...string) []storage.IndexItem {
	items := make([]storage.IndexItem, len(stories))
	for n, story := range stories {
		items[n] = changed(item(fmt.Sprint(n), "", "word"), func(it *storage.IndexItem) {
			it.StoryID, it.Published, it.FeedID = story, noon.Add(time.Duration(n)*time.Minute), "feed-"+story
			if n < 2 {
				it.Title = "word"
			}
		})
	}
	return items
}

func onePerStory(t *testing.T, x storage.Index) {
	put(t, x, itemsOfStories("a", "b", "a", "", "b", "", "c", "a")...)
	for _, c := range []struct {
		q    storage.Query
		want []string
	}{
		{storage.Query{Where: wordsOf("word"), Newest: true}, []string{"7", "6", "5", "4", "3"}},
		{storage.Query{}, []string{"7", "6", "5", "4", "3"}},
		{storage.Query{Where: wordsOf("word")}, []string{"1", "0", "6", "5", "3"}}, // the title match ranks higher
		{parsed(t, "word story:a"), []string{"0"}},
		{parsed(t, "word -story:a"), []string{"1", "6", "5", "3"}},
	} {
		c.q.OnePerStory = true
		results := search(t, x, c.q)
		if got := ids(results); !slices.Equal(got, c.want) {
			t.Errorf("each story once found %v, want %v", got, c.want)
		}
		if results.Total < int64(len(c.want)) || results.Total > 8 {
			t.Errorf("a total of %d, want that of the stories, %d, or that of their items", results.Total, len(c.want))
		}
	}
}

func onePerStoryPages(t *testing.T, x storage.Index) {
	var stories []string
	for n := range 40 {
		stories = append(stories, []string{"", "x", fmt.Sprint(n % 7)}[n%3])
	}
	put(t, x, itemsOfStories(stories...)...)
	for _, q := range []storage.Query{{}, {Where: wordsOf("word")}, {Where: wordsOf("word"), Newest: true}} {
		q.OnePerStory, q.Limit = true, 100
		want := ids(search(t, x, q))
		if len(want) != 14+1+7 {
			t.Errorf("got %d items, want 14 without a story and one of each of 8", len(want))
		}
		for _, limit := range []int{1, 3, 10, 22} {
			q.Limit = limit
			if got := allPages(t, x, q, func(int) {}); !slices.Equal(got, want) {
				t.Errorf("pages of %d returned %v, want %v", limit, got, want)
			}
		}
	}
}

func onePerStoryFacets(t *testing.T, x storage.Index) {
	put(t, x, itemsOfStories("a", "b", "a", "a")...)
	feeds := search(t, x, storage.Query{Where: wordsOf("word"), OnePerStory: true, Facets: true}).Facets["feed"]
	if want := []storage.FacetCount{{Value: "feed-a", Count: 3}, {Value: "feed-b", Count: 1}}; !slices.Equal(feeds, want) {
		t.Errorf("feeds are %v, want all items counted: %v", feeds, want)
	}
}
