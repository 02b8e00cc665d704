package classify

import (
	"encoding/json"
	"hash/fnv"
	"path/filepath"
	"slices"
	"testing"

	"feedmesh/tests/corpus"
)

// A record is one line of the shared data; category is omitted if it is not a list.
type record struct {
	ID       string          `json:"id"`
	Title    string          `json:"title"`
	Body     string          `json:"body"`
	URL      string          `json:"url"`
	Category json.RawMessage `json:"category"`
}

func (r record) categories() []string {
	var list []string
	if json.Unmarshal(r.Category, &list) != nil {
		return nil
	}
	return list
}

// forTest reports whether a record is in the half that was not used for writing rules.
func (r record) forTest() bool {
	h := fnv.New32a()
	h.Write([]byte(r.ID))
	return h.Sum32()>>4&1 != 0
}

func TestEvaluate_RealTitles(t *testing.T) {
	for _, set := range []struct {
		file, language   string
		decided, correct float64 // at least: of all that have a category, and of those decided
	}{
		{"categories/lobsters.jsonl.gz", "en", 0.55, 0.8},
		{"categories/habr-ru-labelled.jsonl.gz", "ru", 0.5, 0.6},
	} {
		t.Run(set.file, func(t *testing.T) {
			var all, decided, right int
			for _, r := range corpus.Lines[record](t, filepath.Join(corpus.Folder(t), filepath.FromSlash(set.file))) {
				gold := r.categories()
				if len(gold) == 0 || !r.forTest() {
					continue
				}
				all++
				categories, _ := labels(ShippedRules().Evaluate(Document{Title: r.Title, Text: r.Body, URL: r.URL, Language: set.language}))
				if len(categories) == 0 {
					continue
				}
				decided++
				if slices.Contains(gold, categories[0]) {
					right++
				}
			}
			coverage, precision := float64(decided)/float64(all), float64(right)/float64(decided)
			t.Logf("%d texts: %.1f %% decided, the best category right in %.1f %%", all, 100*coverage, 100*precision)
			if coverage < set.decided || precision < set.correct {
				t.Errorf("got coverage %.3f and precision %.3f, want at least %.2f and %.2f", coverage, precision, set.decided, set.correct)
			}
		})
	}
}
