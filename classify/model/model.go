// Package model predicts the categories of an item where rules give no result. A [Trainer] learns a [Model]
// from items with known categories; [Model.Predict] ranks the categories of a document. An encoded model has
// at most 3 MB. The package is independent of feeds, queues and storage.
package model

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"feedmesh/classify/stem"
	"feedmesh/classify/table"
)

// A Model predicts categories. It is immutable and safe for concurrent use.
//
// It is linear: the log-odds of a category are its bias plus, for each feature of the item, a weight times
// the feature's value. All are integers, so that the sums and results are the same on every machine.
type Model struct {
	categories []string    // by name
	bias       []int32     // in steps
	names      table.Table // of features, sorted
	weights    []int8      // of feature f for category k, at f*len(categories)+k, in steps
	figures    Metrics
}

// step is the log-odds in nats for a weight of 1 and a feature value of 1.
const step = 1.0 / 16

// General is the category of items that fit none of the other categories, such as general news. It is learned
// like the others; the caller of [Model.Predict] decides what follows from it. No rule can name it.
const General = "(general)"

// maxWhy bounds the features in an explanation.
const maxWhy = 3

// A Guess is a category with its probability.
type Guess struct {
	Category    string
	Odds        float64 // natural logarithm of p/(1-p)
	Bias        float64 // part of Odds due to the category's frequency in training
	ContentOdds float64 // part of Odds due to the item itself, without labels from rules
}

// Probability converts log-odds to a probability.
func Probability(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// Predict returns a guess for each category of the model, the most likely first and then by name, or nil if
// the model has none of the document's features. Equal documents get equal guesses.
func (m *Model) Predict(d Document) []Guess {
	n := len(m.categories)
	own, ruled := make([]int32, n), make([]int32, n)
	if !m.add(d, own, ruled) {
		return nil
	}
	guesses := make([]Guess, n)
	for k := range guesses {
		guesses[k] = Guess{
			Category: m.categories[k], Bias: float64(m.bias[k]) * step, ContentOdds: float64(own[k]) * (step / whole),
			Odds: float64(m.bias[k]*whole+own[k]+ruled[k]) * (step / whole),
		}
	}
	slices.SortFunc(guesses, func(a, b Guess) int {
		return cmp.Or(cmp.Compare(b.Odds, a.Odds), cmp.Compare(a.Category, b.Category))
	})
	return guesses
}

// add adds the weights of a document's features for each category, separately for the document's own features
// and for labels from rules. It reports whether the model has any of them.
func (m *Model) add(d Document, own, ruled []int32) bool {
	c := collect(d)
	defer collectors.Put(c)
	some := false
	for i, value := range c.values {
		name := c.names.Word(int32(i))
		id := m.names.FindBytes(name)
		if id < 0 {
			continue
		}
		some = true
		sums := own
		if name[0] == labelKind {
			sums = ruled
		}
		for k, w := range m.row(id) {
			sums[k] += int32(w) * int32(value)
		}
	}
	return some
}

// VocabularyShare returns the share of the title's words that are features of m. For a title in another
// language these are little more than product names.
func (m *Model) VocabularyShare(d Document) float64 {
	words := d.titleStems()
	found := 0
	for _, w := range words {
		if m.names.Find(string(wordKind)+w.Stem) >= 0 {
			found++
		}
	}
	return share(found, len(words))
}

// Metrics returns how m was trained, and its measured results.
func (m *Model) Metrics() Metrics { return m.figures }

const (
	minLanguageShare   = 0.05 // of all examples with other categories than General: minimum for CoversLanguage
	minLanguageGeneral = 50   // examples with General, and with other categories: minimum for CoversGeneral
)

// CoversLanguage reports whether enough examples in a language had categories other than [General]. It is true if
// the language is empty: [Model.VocabularyShare] returns how much of such a text the model covers.
func (m *Model) CoversLanguage(language string) bool {
	return m.covers(language, func(l LanguageMetrics, all int) bool { return float64(l.Examples) >= minLanguageShare*float64(all) })
}

// CoversGeneral reports whether enough examples in a language had category [General], and enough another one. It is
// true if the language is empty.
func (m *Model) CoversGeneral(language string) bool {
	return m.covers(language, func(l LanguageMetrics, _ int) bool { return min(l.Examples, l.General) >= minLanguageGeneral })
}

// covers returns the result of enough for a language's metrics and the number of examples in all languages. Models of
// earlier versions have no metrics of languages.
func (m *Model) covers(language string, enough func(l LanguageMetrics, all int) bool) bool {
	if language == "" || len(m.figures.Languages) == 0 {
		return true
	}
	var metrics LanguageMetrics
	all := 0
	for _, l := range m.figures.Languages {
		all += l.Examples
		if l.Language == language {
			metrics = l
		}
	}
	return enough(metrics, all)
}

// A knownFeature is a feature of a document that the model contains.
type knownFeature struct {
	feature
	id int32
}

func (m *Model) knownFeatures(d Document) []knownFeature {
	var list []knownFeature
	for _, f := range features(d) {
		if id := m.names.Find(f.name); id >= 0 {
			list = append(list, knownFeature{f, id})
		}
	}
	return list
}

// row returns the weights of a feature, one for each category.
func (m *Model) row(id int32) []int8 {
	n := len(m.categories)
	return m.weights[int(id)*n : int(id)*n+n]
}

// Explain returns the features with the most weight for a category in readable form, `"helm"` or `host
// github.com`; at most 3.
func (m *Model) Explain(d Document, category string) []string {
	k, is := slices.BinarySearch(m.categories, category)
	if !is {
		return nil
	}
	list := m.knownFeatures(d)
	worth := func(f knownFeature) int { return int(m.row(f.id)[k]) * int(f.value) }
	slices.SortStableFunc(list, func(a, b knownFeature) int { return cmp.Compare(worth(b), worth(a)) })
	var why []string
	listed := make(map[string]bool)
	for _, f := range list {
		if worth(f) <= 0 || len(why) == maxWhy {
			break
		}
		news := false
		for _, part := range f.parts() { // skip a pair whose words are listed already
			news = news || !listed[part]
			listed[part] = true
		}
		if news {
			why = append(why, f.readable(d))
		}
	}
	return why
}

// parts returns the components of a feature for detecting repetitions: the stems of words, or a rule's label
// regardless of certainty.
func (f feature) parts() []string {
	switch f.name[0] {
	case wordKind, pairKind:
		return strings.Fields(f.name[1:])
	case labelKind:
		_, name, _ := strings.Cut(f.name, " ")
		return []string{"rule " + name}
	case exactKind:
		return []string{stem.Of(strings.ToLower(f.name[1:]), "en")}
	}
	return []string{f.name}
}

// readable returns a feature in readable form: a stem as the word of the title it came from, if there is one.
func (f feature) readable(d Document) string {
	kind, text := f.name[0], f.name[1:]
	switch kind {
	case hostKind:
		return "host " + text
	case nameKind:
		return "host name " + text
	case addressKind:
		return "address " + text
	case tagKind:
		return "tag " + text
	case feedKind:
		return "feed " + text
	case authorKind:
		return "author " + text
	case exactKind:
		return strconv.Quote(text)
	case labelKind:
		_, name, _ := strings.Cut(text, " ")
		return "rule for " + name
	}
	var written []string
	for s := range strings.FieldsSeq(text) {
		written = append(written, asWritten(s, d))
	}
	return `"` + strings.Join(written, " ") + `"`
}

// asWritten returns the first word of the title with the given stem, or the stem.
func asWritten(s string, d Document) string {
	for word := range strings.FieldsSeq(d.Title) {
		if list := stem.Stems(word, d.Language); len(list) == 1 && list[0] == s {
			return strings.Trim(word, `.,:;!?"'()[]`)
		}
	}
	return s
}
