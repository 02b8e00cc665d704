package classify

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"feedmesh/tests/corpus"
)

// A record is one line of the shared data; category is left out where it is
// not a list.
type record struct {
	Title    string          `json:"title"`
	Body     string          `json:"body"`
	URL      string          `json:"url"`
	Tags     []string        `json:"tags"`
	Category json.RawMessage `json:"category"`
}

func (r record) categories() []string {
	var list []string
	if json.Unmarshal(r.Category, &list) != nil {
		return nil
	}
	return list
}

func TestRulesOnRealTitles(t *testing.T) {
	for _, set := range []struct {
		file, language string
		best           float64 // least precision of the best category
	}{
		{"categories/lobsters.jsonl.gz", "en", 0.7},
		{"categories/stackoverflow-titles.jsonl.gz", "en", 0.7},
		{"categories/habr-ru-labelled.jsonl.gz", "ru", 0.5},
	} {
		t.Run(set.file, func(t *testing.T) {
			var labelled, decided, right, any, spam int
			rules := DefaultRules()
			for _, r := range corpus.Lines[record](t, filepath.Join(corpus.Folder(t), filepath.FromSlash(set.file))) {
				gold := r.categories()
				if len(gold) == 0 {
					continue
				}
				labelled++
				d := rules.Decide(Document{Title: r.Title, Text: r.Body, URL: r.URL, Language: set.language})
				if d.Spam {
					spam++
				}
				if len(d.Categories) == 0 {
					continue
				}
				decided++
				if slices.Contains(gold, d.Categories[0]) {
					right++
				}
				if slices.ContainsFunc(d.Categories, func(c string) bool { return slices.Contains(gold, c) }) {
					any++
				}
			}
			best := float64(right) / float64(decided)
			t.Logf("%d texts: %.1f %% decided, best category right in %.1f %%, any in %.1f %%, %d called spam",
				labelled, 100*float64(decided)/float64(labelled), 100*best, 100*float64(any)/float64(decided), spam)
			if best < set.best {
				t.Errorf("got %.3f of the best categories right, want at least %.2f", best, set.best)
			}
		})
	}
}
