package model

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"feedmesh/classify/stem"
)

// subjects lists words by category.
var subjects = map[string][]string{
	"databases": {"postgres", "index", "query", "vacuum", "transaction", "sqlite"},
	"devops":    {"helm", "cluster", "deploy", "container", "rollout", "terraform"},
	"games":     {"sprite", "quest", "shader", "console", "level", "boss"},
}

// taught returns a trainer with n examples of each subject.
func taught(n int) *Trainer {
	t := NewTrainer()
	for category, words := range subjects {
		for i := range n {
			t.Add(Example{
				ID: fmt.Sprint(category, i), Categories: []string{category},
				Document: Document{
					Title: fmt.Sprintf("Notes on a %s and the %s, part %d", words[i%6], words[(i*7+1+i/6)%6], i),
					URL:   fmt.Sprintf("https://blog%d.example/%s/%d", i%9, category, i), Language: "en",
				},
			})
		}
	}
	return t
}

func trained(t testing.TB) *Model {
	t.Helper()
	m, err := taught(100).Train("invented titles")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPredict_GuessesAndExplains(t *testing.T) {
	m := trained(t)
	for title, want := range map[string]string{
		"Helm charts and clusters": "devops",
		"A boss without a quest":   "games",
		"Slow queries in Postgres": "databases",
	} {
		got := m.Predict(Document{Title: title, Language: "en"})
		if len(got) != 3 || got[0].Category != want || Probability(got[0].Odds) < 0.6 || Probability(got[1].Odds) > 0.4 {
			t.Errorf("%s: got %+v, want %s first and far ahead", title, got, want)
		}
	}
	got := m.Predict(Document{Title: "Helm charts and clusters", Language: "en"})
	why := slices.Sorted(slices.Values(m.Explain(Document{Title: "Helm charts and clusters", Language: "en"}, "devops")))
	if want := []string{`"Helm"`, `"clusters"`}; !reflect.DeepEqual(why, want) {
		t.Errorf("got %q, want the words as they are written: %q", why, want)
	}
	if why := m.Explain(Document{Title: "Helm"}, "gardening"); why != nil {
		t.Errorf("got %q for a missing category", why)
	}
	if odds := got[0].Bias; odds > 0 || odds < -5 || got[0].Odds != odds+got[0].ContentOdds {
		t.Errorf("got odds %v for one of three categories without evidence", odds)
	}
}

func TestPredict_NoFeatureNoGuess(t *testing.T) {
	for _, d := range []Document{{}, {Title: "Загадка чёрной капли", Language: "ru"}, {Title: "The a of"}} {
		if got := trained(t).Predict(d); got != nil {
			t.Errorf("%q: got %v, want nothing", d.Title, got)
		}
	}
}

func TestVocabularyShare_OfTitle(t *testing.T) {
	m := trained(t)
	for title, want := range map[string]float64{"": 0, "Helm и кластер": 0.5, "Helm clusters": 1, "Загадка": 0} {
		if got := m.VocabularyShare(Document{Title: title}); got != want {
			t.Errorf("%q: got %v, want %v", title, got, want)
		}
	}
}

func TestPredict_TextCountsLessThanTitle(t *testing.T) {
	m := trained(t)
	text := stem.Words("helm helm helm", "en")
	title := m.Predict(Document{Title: "Helm", Language: "en"})[0]
	body := m.Predict(Document{Stems: text, Language: "en"})[0]
	if body.Category != "devops" || title.Category != "devops" || math.Abs(body.ContentOdds*4-title.ContentOdds) > 1e-9 {
		t.Errorf("got %+v of the text and %+v of the title, want a quarter", body, title)
	}
	if got := m.Predict(Document{Stems: text[:1], Language: "en"}); got != nil {
		t.Errorf("got %v for one mention, want nothing", got)
	}
}

func TestTrain_OrderDoesNotMatter(t *testing.T) {
	var packed [][]byte
	for range 2 { // maps are walked in other orders
		b, err := trained(t).Encode()
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, b)
	}
	if string(packed[0]) != string(packed[1]) {
		t.Error("equal examples gave different models")
	}
}

func TestAdd_ReplacesExampleAndWeighsCorrections(t *testing.T) {
	tr := taught(100)
	n := tr.Len()
	for i := range 12 {
		d := Document{Title: fmt.Sprintf("The kraken of %d", i), Language: "en"}
		id := fmt.Sprint("kraken", i)
		tr.Add(Example{ID: id, Document: d, Categories: []string{"databases"}})
		if i%3 == 0 {
			tr.Add(Example{ID: id, Document: d, Categories: []string{"games"}, Weight: Correction})
		}
	}
	if tr.Len() != n+12 {
		t.Errorf("got %d examples, want %d", tr.Len(), n+12)
	}
	m, err := tr.Train("")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Predict(Document{Title: "Kraken", Language: "en"})[0]; got.Category != "games" {
		t.Errorf("got %+v, want four corrections of weight 5 to outweigh 8 examples", got)
	}
}

func TestTrain_RejectsTooFewExamples(t *testing.T) {
	one := NewTrainer()
	for i := range 300 {
		one.Add(Example{ID: fmt.Sprint(i), Document: Document{Title: "x"}, Categories: []string{"games"}})
	}
	for name, tr := range map[string]*Trainer{"none": NewTrainer(), "few": taught(10), "of one category": one} {
		if _, err := tr.Train(""); !errors.Is(err, ErrTooFewExamples) {
			t.Errorf("%s: got %v, want ErrFew", name, err)
		}
	}
	if tr := NewTrainer(); tr.Add(Example{ID: "a"}) != true || tr.Len() != 0 {
		t.Error("an example without a category was accepted")
	}
}

func TestTrain_LearnsTrustInRules(t *testing.T) {
	tr := taught(60)
	for i := range 120 { // a rule that is wrong as often as a coin, and one that is right
		category, rule := "devops", "games"
		if i%2 == 0 {
			category = "games"
		}
		labels := []Label{{Name: rule, Points: 3}}
		if category == "devops" {
			labels = append(labels, Label{Topic: true, Name: "kubernetes", Points: 3})
		}
		tr.Add(Example{ID: fmt.Sprint("r", i), Categories: []string{category}, Document: Document{Title: fmt.Sprint("n", i), Labels: labels}})
	}
	m, err := tr.Train("")
	if err != nil {
		t.Fatal(err)
	}
	d := Document{Labels: []Label{{Name: "games", Points: 3}, {Topic: true, Name: "kubernetes", Points: 3}}}
	both := m.Predict(d)
	if both[0].Category != "devops" || Probability(both[0].Odds) < 0.6 {
		t.Errorf("got %+v, want that the rule which is right is trusted", both)
	}
	if both[0].ContentOdds != 0 {
		t.Errorf("got %+v, want that rules are not the item's own words", both[0])
	}
	if why := m.Explain(d, "devops"); len(why) != 1 || why[0] != "rule for topic kubernetes" {
		t.Errorf("got %q", why)
	}
}

func TestTrain_CountsLanguages(t *testing.T) {
	tr := taught(100)
	for i := range 120 {
		e := Example{ID: fmt.Sprint("other", i), Document: Document{Title: fmt.Sprint("Прочее ", i), Language: "ru"}, Categories: []string{General}}
		if i%2 == 0 {
			e.Categories = []string{"games"}
		}
		if i%20 == 0 {
			e.Document.Language = "de"
		}
		tr.Add(e)
	}
	m, err := tr.Train("")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Metrics().Languages, []LanguageMetrics{{"en", 300, 0}, {"ru", 54, 60}, {"de", 6, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for language, want := range map[string][2]bool{"en": {true, false}, "ru": {true, true}, "de": {false, false}, "fr": {false, false}, "": {true, true}} {
		if got := [2]bool{m.CoversLanguage(language), m.CoversGeneral(language)}; got != want {
			t.Errorf("%q: got %v, want %v", language, got, want)
		}
	}
	if older := new(Model); !older.CoversLanguage("fr") || !older.CoversGeneral("fr") {
		t.Error("a model without metrics of languages excludes one")
	}
}

func TestDecode_RestoresEncodedModel(t *testing.T) {
	m := trained(t)
	packed, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(packed)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, m) {
		t.Error("the decoded model differs from the encoded one")
	}
	if f := got.Metrics(); f.Examples != 300 || f.Source != "invented titles" || f.HeldOut == 0 || f.Top1 < 0.9 || len(f.Categories) != 3 {
		t.Errorf("got %+v", f)
	}
	if text := got.Metrics().String(); !strings.Contains(text, "300 examples") || !strings.Contains(text, "| databases | 100 |") {
		t.Errorf("got %s", text)
	}
}

func TestDecode_RejectsInvalidData(t *testing.T) {
	packed, err := trained(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	head := version + `{"categories":["a","b"],"bias":[0,0],"features":`
	for name, bad := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut": packed[:len(packed)/2], "long": make([]byte, maxFile+1),
		"another version":  pack([]byte("feedmesh model 9\n{}\n")),
		"one category":     pack([]byte(version + `{"categories":["a"],"bias":[0],"features":0}` + "\n")),
		"not in order":     pack([]byte(version + `{"categories":["b","a"],"bias":[0,0],"features":0}` + "\n")),
		"no biases":        pack([]byte(version + `{"categories":["a","b"],"bias":[],"features":0}` + "\n")),
		"many features":    pack([]byte(head + "900000000}\n")),
		"no features":      pack([]byte(head + "2}\n")),
		"too long a name":  pack([]byte(head + "1}\n\x00\xff\x7f")),
		"shares too much":  pack([]byte(head + "1}\n\x01\x01ab\x00\x00")),
		"the same twice":   pack([]byte(head + "2}\n\x00\x02ta\x02\x00\x00\x00\x00\x00")),
		"too few weights":  pack([]byte(head + "1}\n\x00\x02ta\x00")),
		"too many weights": pack([]byte(head + "1}\n\x00\x02ta\x00\x00\x00")),
		"a bomb":           pack(make([]byte, maxPlain+1)),
	} {
		if m, err := Decode(bad); !errors.Is(err, ErrInvalidModel) || m != nil {
			t.Errorf("%s: got %v, want ErrModel", name, err)
		}
	}
	if _, err := Decode(pack([]byte(head + "1}\n\x00\x02ta\x00\x00"))); err != nil {
		t.Errorf("got %v for a valid model", err)
	}
}

func FuzzDecode(f *testing.F) {
	m := trained(f)
	packed, err := m.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add([]byte(version))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, packed := range [][]byte{data, pack(data)} {
			if m, err := Decode(packed); err == nil {
				d := Document{Title: "Helm and Postgres", URL: "https://example.com/a"}
				for _, g := range m.Predict(d) {
					m.Explain(d, g.Category)
				}
			}
		}
	})
}

func FuzzPredict(f *testing.F) {
	m := trained(f)
	f.Add("Helm 3", "https://blog1.example/devops/1", "text helm text helm", "en")
	f.Add("\xff", "http://[::1]:x/%zz", "", "")
	f.Fuzz(func(t *testing.T, title, url, text, language string) {
		d := Document{Title: title, URL: url, Author: title, FeedTitle: text, Tags: []string{text, title}, Stems: stem.Words(text, language), Language: language}
		for _, g := range m.Predict(d) {
			if p := Probability(g.Odds); !(p >= 0 && p <= 1) {
				t.Errorf("got %v", g)
			}
			m.Explain(d, g.Category)
		}
	})
}

func BenchmarkPredict(b *testing.B) {
	m := Default()
	d := Document{
		Title: "PostgreSQL 16 on Kubernetes: what we learned from a year of failovers", Language: "en",
		URL: "https://blog.example.com/2024/01/postgresql-on-kubernetes", FeedTitle: "Example engineering",
		Stems: stem.Words(strings.Repeat("A cluster of databases fails over when the leader of the replicas is gone. ", 40), "en"),
	}
	for b.Loop() {
		m.Predict(d)
	}
}
