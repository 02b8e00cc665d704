package component

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"feedmesh/classify"
	"feedmesh/classify/expression"
	"feedmesh/classify/rule"
)

// bodyBytes is the length of the bodies of generated documents.
const bodyBytes = 1500

// madeDocuments generates documents of words from the shipped rules, stop words and meaningless words, with
// the frequencies of natural language.
func madeDocuments(n int) []classify.Document {
	random := rand.New(rand.NewPCG(6, uint64(n)))
	words := slices.Sorted(maps.Keys(ruleWords(classify.Shipped())))
	for len(words) < 20_000 {
		words = append(words, syllables(random))
	}
	random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	often := rand.NewZipf(random, 1.1, 20, uint64(len(words)-1))
	text := func(size int) string {
		var b strings.Builder
		for b.Len() < size {
			if random.IntN(10) < 4 {
				b.WriteString(stopWords[random.IntN(len(stopWords))])
			} else {
				b.WriteString(words[often.Uint64()])
			}
			b.WriteString([]string{" ", " ", " ", " ", " ", " ", ", ", ". "}[random.IntN(8)])
		}
		return b.String()
	}
	documents := make([]classify.Document, n)
	for i := range documents {
		documents[i] = classify.Document{
			Title: text(60), Text: text(bodyBytes), Tags: []string{text(8)}, FeedTitle: text(12),
			URL: fmt.Sprintf("https://host%d.example.org/%d", i%50, i), Language: "en",
		}
	}
	return documents
}

var stopWords = strings.Fields("the of and a to in is it that for on with as this by from are be at")

func syllables(random *rand.Rand) string {
	var b strings.Builder
	for range 2 + random.IntN(3) {
		b.WriteByte("bcdfghklmnprstvz"[random.IntN(16)])
		b.WriteByte("aeiou"[random.IntN(5)])
	}
	return b.String() + []string{"", "n", "r", "st"}[random.IntN(4)]
}

// ruleWords returns the words of the terms of rules.
func ruleWords(set *rule.Set) map[string]bool {
	words := make(map[string]bool)
	for _, r := range set.Rules {
		for e := range expression.Walk(r.Condition) {
			if t, ok := e.(*rule.Term); ok && t.Kind == rule.Words {
				for _, w := range strings.Fields(t.Text) {
					words[w] = true
				}
			}
		}
	}
	return words
}

// A writer generates rules in the shape of the shipped ones, from the words and phrases of documents.
type writer struct {
	*rand.Rand
	words, phrases []string
	near           bool // rules may contain NEAR, prefixes and other features that other engines lack
}

// newWriter selects words of documents without the most frequent ones, which authors of rules avoid too.
func newWriter(documents []classify.Document, near bool) *writer {
	in := make(map[string]int)
	phrases := make(map[string]bool)
	for _, d := range documents {
		seen := make(map[string]bool)
		last := ""
		for _, w := range strings.FieldsFunc(strings.ToLower(d.Title+" . "+d.Text), func(r rune) bool { return strings.ContainsRune(" \n\t,:;()\"", r) }) {
			w = strings.Trim(w, ".")
			if !isPlain(w) {
				last = ""
				continue
			}
			if !seen[w] {
				seen[w] = true
				in[w]++
			}
			if last != "" && len(phrases) < 200_000 {
				phrases[last+" "+w] = true
			}
			last = w
		}
	}
	w := &writer{Rand: rand.New(rand.NewPCG(6, 300)), near: near}
	for _, word := range slices.Sorted(maps.Keys(in)) {
		if in[word] <= len(documents)/20 {
			w.words = append(w.words, word)
		}
	}
	w.phrases = slices.Sorted(maps.Keys(phrases))
	return w
}

// isPlain reports whether a word has four letters or more and no special meaning in rules.
func isPlain(w string) bool {
	return len(w) >= 4 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == ""
}

// term writes a word or, one time in four, a phrase.
func (w *writer) term() string {
	if w.IntN(4) == 0 {
		return `"` + w.phrases[w.IntN(len(w.phrases))] + `"`
	}
	word := w.words[w.IntN(len(w.words))]
	if w.near && w.IntN(20) == 0 && len(word) > 5 {
		return word[:5] + "*"
	}
	return `"` + word + `"`
}

func (w *writer) terms(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = w.term()
	}
	return strings.Join(list, " | ")
}

// rule writes a rule of about eight terms, a third of them with & or near.
func (w *writer) rule(i int) string {
	head := fmt.Sprintf("category made-%d/topic:made-%d when ", i%40, i%300)
	switch i % 9 {
	case 0:
		return head + "(" + w.terms(4) + ") & (" + w.terms(4) + ")\n"
	case 1:
		return head + "(" + w.terms(6) + ") & !(" + w.terms(2) + ")\n"
	case 2:
		if w.near {
			return head + "(" + w.plain() + " | " + w.plain() + " | " + w.plain() + ") near/5 (" + w.plain() + " | " + w.plain() + ")\n"
		}
		return head + "title:(" + w.terms(8) + ")\n"
	}
	return head + w.terms(5+w.IntN(7)) + "\n"
}

func (w *writer) plain() string { return `"` + w.words[w.IntN(len(w.words))] + `"` }

// write returns the text of n rules for [rule.Parse], and the number of those taken from the given rules,
// which come first if the writer may write them.
func (w *writer) write(n int, base []rule.Rule) (text string, ours int) {
	var b strings.Builder
	for _, r := range base {
		if ours < n && w.may(r) {
			b.WriteString(rule.Format(r))
			ours++
		}
	}
	for i := ours; i < n; {
		r := w.rule(i)
		if _, err := rule.Parse([]byte(r)); err == nil { // phrases of stop words are rejected
			b.WriteString(r)
			i++
		}
	}
	return b.String(), ours
}

// may reports whether a rule is independent of others and, for other engines, consists of words and phrases
// only.
func (w *writer) may(r rule.Rule) bool {
	if r.Scope != (rule.Scope{}) {
		return false
	}
	for e := range expression.Walk(r.Condition) {
		switch e := e.(type) {
		case *rule.Fact:
			return false
		case rule.Near, rule.AtLeast:
			if !w.near {
				return false
			}
		case *rule.Term:
			if !w.near && e.Kind != rule.Words {
				return false
			}
		}
	}
	return true
}
