package workbench

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"feedmesh/classify"
	"feedmesh/classify/model"
	"feedmesh/classify/spam"
)

// examples yields n examples, then an error unless it is nil.
func examples(n int, example func(i int) Example, fault error) Examples {
	return func(yield func(Example, error) bool) {
		for i := range n {
			if !yield(example(i), nil) {
				return
			}
		}
		if fault != nil {
			yield(Example{}, fault)
		}
	}
}

func TestLearnModel_FromExamples(t *testing.T) {
	rules := rulesOf(t, newRules).rules
	lesson := func(i int) Example {
		e := Example{ID: fmt.Sprint(i), Categories: []string{"databases"}, Document: classify.Document{Title: "A replica of tables lags", Language: "en"}}
		if i%2 == 0 {
			e.Categories, e.Document.Title = []string{"music"}, "A guitar has strings"
		}
		if i < 20 {
			e.Corrected = true
		}
		return e
	}
	packed, note, figures, err := LearnModel(t.Context(), rules, examples(400, lesson, nil))
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode(packed)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Predict(model.Document{Title: "The guitar and its strings", Language: "en"}); len(got) == 0 || got[0].Category != "music" {
		t.Errorf("got %+v, want music", got)
	}
	if !strings.HasPrefix(note, "400 examples, 20 of them people's; 100.0 % of ") || !strings.Contains(string(figures), `"examples":400`) {
		t.Errorf("got note %q and figures %s, want its quality", note, figures)
	}
	if _, _, _, err := LearnModel(t.Context(), rules, examples(100, lesson, nil)); !errors.Is(err, model.ErrTooFewExamples) {
		t.Errorf("got %v, want ErrFew", err)
	}
	if _, _, _, err := LearnModel(t.Context(), rules, examples(400, lesson, errAway)); !errors.Is(err, errAway) {
		t.Errorf("got %v, want the error of the examples", err)
	}
}

func TestLearnLists_FromCorrections(t *testing.T) {
	yes, no := true, false
	doc := classify.Document{Title: "Quarterly zorbing newsletter", Text: "Zorbing fans unite for a weekend of zorbing.", URL: "https://zorb.example/1", Language: "en", FeedTitle: "F"}
	lesson := func(is *bool) func(int) Example {
		return func(i int) Example {
			e := Example{ID: fmt.Sprint(i), Corrected: i < 40, Spam: is, Document: doc}
			if i%2 == 0 {
				e.Spam, e.Document = nil, classify.Document{Title: "Kubernetes"}
			}
			return e
		}
	}
	score := func(lists []byte) float64 {
		filter, err := spam.Parse(lists)
		if err != nil {
			t.Fatal(err)
		}
		return filter.Classify(spam.Document{Title: doc.Title, Text: doc.Text, URL: doc.URL, Language: "en", FeedTitle: "F"}, spam.History{}).Score
	}
	before := score(spam.Shipped())
	reported, note, figures, err := LearnSpam(t.Context(), spam.Shipped(), examples(50, lesson(&yes), nil))
	if err != nil || note != "learned from 20 items that people reported and 0 that they released" || string(figures) != `{"reported":20,"released":0}` {
		t.Fatalf("got %q, %s, %v", note, figures, err)
	}
	if files := txtar.Parse(reported).Files; len(files) != 1 || files[0].Name != learnedFile {
		t.Errorf("got %d files, want the learned list only", len(files))
	}
	again, _, _, err := LearnSpam(t.Context(), reported, examples(50, lesson(&yes), nil))
	if err != nil || string(again) != string(reported) {
		t.Errorf("learned again: got other lists, %v; want the same", err)
	}
	released, _, _, err := LearnSpam(t.Context(), reported, examples(50, lesson(&no), nil))
	if err != nil {
		t.Fatal(err)
	}
	if r, b, l := score(reported), before, score(released); r <= b || l > b {
		t.Errorf("got scores %v, %v after the report, %v after the release; want a rise, then at most the initial score", b, r, l)
	}
	if _, _, _, err := LearnSpam(t.Context(), spam.Shipped(), examples(50, lesson(nil), nil)); err == nil {
		t.Error("got no error without examples")
	}
	if _, _, _, err := LearnSpam(t.Context(), []byte("-- weights.txt --\nnonsense"), examples(50, lesson(&yes), nil)); err == nil {
		t.Error("got no error for invalid lists")
	}
	if _, _, _, err := LearnSpam(t.Context(), spam.Shipped(), examples(2, lesson(&yes), errAway)); !errors.Is(err, errAway) {
		t.Errorf("got %v, want the error of the examples", err)
	}
}
