package golden

import (
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/storage"
	"feedmesh/tests/corpus"
)

// A storyItem is a real article or headline and its manually labelled story. The index does not know the story:
// similar items are those of other stories.
type storyItem struct {
	storage.IndexItem
	story string
}

func storyItems(t *testing.T) []storyItem {
	if testing.Short() {
		t.Skip("skipped by -short: it indexes stories in two engines")
	}
	type article struct{ ID, Title, Body, URL, Story string }
	folder := corpus.Folder(t, "stories")
	articles := corpus.Lines[article](t, filepath.Join(folder, "ecb-plus.jsonl.gz"))
	articles = append(articles, corpus.Lines[article](t, filepath.Join(folder, "uci-headlines.jsonl.gz"))[:8000]...)
	items := make([]storyItem, len(articles))
	for i, a := range articles {
		if a.Title == "" {
			a.Title, a.Body, _ = strings.Cut(a.Body, "\n")
		}
		item := storage.Item{ID: a.ID, FeedID: "feed", Title: a.Title, URL: a.URL, Language: "en"}
		items[i] = storyItem{storage.IndexItem{Text: a.Body, Item: item}, a.Story}
	}
	return items
}

// judged returns ten items of stories with at least six items, five articles and five headlines, and by story
// the IDs of its items.
func judged(items []storyItem) (chosen []storyItem, stories map[string][]string) {
	stories = map[string][]string{}
	for _, it := range items {
		stories[it.story] = append(stories[it.story], it.ID)
	}
	left := map[string]int{"ecb": 5, "uci": 5}
	seen := map[string]bool{}
	for _, it := range items {
		set, _, _ := strings.Cut(it.ID, "-")
		if len(stories[it.story]) >= 6 && !seen[it.story] && left[set] > 0 {
			seen[it.story] = true
			left[set]--
			chosen = append(chosen, it)
		}
	}
	return chosen, stories
}

func TestSimilar_ItemsAreOfTheLabelledStory(t *testing.T) {
	items := storyItems(t)
	indexed := make([]storage.IndexItem, len(items))
	for i, it := range items {
		indexed[i] = it.IndexItem
	}
	eachEngine(t, indexed, func(t *testing.T, x storage.Index) { measureSimilar(t, x, items) })
}

func measureSimilar(t *testing.T, x storage.Index, items []storyItem) {
	chosen, stories := judged(items)
	if len(chosen) != 10 {
		t.Fatalf("%d items are judged, want 10", len(chosen))
	}
	all := 0.0
	for _, it := range chosen {
		relevant := map[string]bool{}
		for _, id := range stories[it.story] {
			relevant[id] = true
		}
		delete(relevant, it.ID)
		hits, err := x.Similar(t.Context(), it.IndexItem, 10)
		if err != nil {
			t.Fatal(err)
		}
		score := ndcg(hits, relevant)
		t.Logf("%.2f of %3d: %s", score, len(relevant), it.Title)
		all += score
	}
	mean := all / float64(len(chosen))
	t.Logf("nDCG@10 %.3f", mean)
	if mean < leastSimilar {
		t.Errorf("nDCG@10 is %.3f, want %.2f", mean, leastSimilar)
	}
}

// leastSimilar is below the score of both engines, and far above random results.
const leastSimilar = 0.7
