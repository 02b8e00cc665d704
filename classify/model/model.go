// Package model guesses what an item is about where rules are silent. What it
// knows it has learned from items whose categories are known. It knows nothing of
// feeds, queues or storage.
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

// A Model guesses categories. It does not change and may be used concurrently.
//
// It is linear: a category's log-odds are its bias and, for each feature of the
// item, a weight times the feature's value. All are whole numbers, so that the
// sums, and what follows from them, are the same on every machine.
type Model struct {
	categories []string    // by name
	bias       []int32     // in steps
	names      table.Table // of features, in their order
	weights    []int8      // of feature f for category k, at f*len(categories)+k, in steps
	figures    Figures
}

// step is what a weight of 1 adds to log-odds, in nats, where a feature's value is 1.
const step = 1.0 / 16

// maxWhy is how many features a guess is explained with.
const maxWhy = 3

// A Guess is how likely a category is an item's.
type Guess struct {
	Category string
	Odds     float64 // natural logarithm of p/(1-p)
	Bias     float64 // the part of Odds that tells how common the category was in training
	Own      float64 // the part that the item itself says, rather than what rules said of it
}

// Probability returns p.
func (g Guess) Probability() float64 { return Probability(g.Odds) }

// Probability returns the p that log-odds stand for.
func Probability(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// Predict guesses the categories of a document, the likeliest first and then by
// name: all that it has learned, or none if it knows nothing of what the document
// has. Equal documents get equal guesses.
func (m *Model) Predict(d Document) []Guess {
	n := len(m.categories)
	own, ruled := make([]int32, n), make([]int32, n)
	if !m.add(d, own, ruled) {
		return nil
	}
	guesses := make([]Guess, n)
	for k := range guesses {
		guesses[k] = Guess{
			Category: m.categories[k], Bias: float64(m.bias[k]) * step, Own: float64(own[k]) * (step / whole),
			Odds: float64(m.bias[k]*whole+own[k]+ruled[k]) * (step / whole),
		}
	}
	slices.SortFunc(guesses, func(a, b Guess) int {
		return cmp.Or(cmp.Compare(b.Odds, a.Odds), cmp.Compare(a.Category, b.Category))
	})
	return guesses
}

// add adds up for each category what the features of a document say, those that
// are its own and those that rules said. It reports whether any is known.
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

// Knows returns the share of the title's words that m has learned: of a title in
// another language that is little more than the names of products.
func (m *Model) Knows(d Document) float64 {
	words := d.titleStems()
	known := 0
	for _, w := range words {
		if m.names.Find(string(wordKind)+w.Stem) >= 0 {
			known++
		}
	}
	return share(known, len(words))
}

// Categories returns the categories that m knows, by name. The caller must not
// change them.
func (m *Model) Categories() []string { return m.categories }

// Figures returns how m was trained and how well it did.
func (m *Model) Figures() Figures { return m.figures }

// A known is a feature of a document that the model has learned of.
type known struct {
	feature
	id int32
}

func (m *Model) known(d Document) []known {
	var list []known
	for _, f := range features(d) {
		if id := m.names.Find(f.name); id >= 0 {
			list = append(list, known{f, id})
		}
	}
	return list
}

// row returns the weights of a feature, one for each category.
func (m *Model) row(id int32) []int8 {
	n := len(m.categories)
	return m.weights[int(id)*n : int(id)*n+n]
}

// Why returns what speaks most for a document's having a category, the most
// first, in a reader's words: `"helm"`, `host github.com`; at most 3.
func (m *Model) Why(d Document, category string) []string {
	k, is := slices.BinarySearch(m.categories, category)
	if !is {
		return nil
	}
	list := m.known(d)
	worth := func(f known) int { return int(m.row(f.id)[k]) * int(f.value) }
	slices.SortStableFunc(list, func(a, b known) int { return cmp.Compare(worth(b), worth(a)) })
	var why []string
	said := make(map[string]bool)
	for _, f := range list {
		if worth(f) <= 0 || len(why) == maxWhy {
			break
		}
		news := false
		for _, part := range f.parts() { // a pair of words that are said is no news
			news = news || !said[part]
			said[part] = true
		}
		if news {
			why = append(why, f.readable(d))
		}
	}
	return why
}

// parts returns what a feature is made of: the stems of words, the label of what
// rules said however surely.
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

// readable returns a feature as a reader knows it: a stem as the word of the
// title that it came from, if there is one.
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
		if list := stem.List(word, d.Language); len(list) == 1 && list[0] == s {
			return strings.Trim(word, `.,:;!?"'()[]`)
		}
	}
	return s
}
