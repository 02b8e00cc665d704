package service

import (
	"cmp"
	"slices"
	"strings"

	"feedmesh/classify/query"
	"feedmesh/classify/text"
)

// A highlighter finds the words of a text that match a query.
type highlighter struct {
	stems    map[string]bool
	prefixes []string     // of prefix terms
	fuzzy    []query.Word // matched with typing errors
}

// newHighlighter returns a highlighter for a query; nearly allows typing errors.
func newHighlighter(where query.Node, nearly bool) *highlighter {
	m := &highlighter{stems: map[string]bool{}}
	for _, t := range query.Texts(where) {
		words := t.QueryWords()
		for i, w := range words {
			m.stems[w.Stem] = true
			goesOn := t.Form == query.Prefix && i == len(words)-1
			if nearly && t.Form != query.Phrase && !goesOn && query.MaxEdits(w.Text) > 0 {
				m.fuzzy = append(m.fuzzy, w)
			}
		}
		if t.Form == query.Prefix {
			begin, ends := query.PrefixStems(t.Words)
			m.prefixes = append(m.prefixes, begin)
			for _, stem := range ends {
				m.stems[stem] = true
			}
		}
	}
	return m
}

// matcher returns a function that reports whether a word of the text s matches.
func (m *highlighter) matcher(s string) func(text.Word) bool {
	if len(m.stems) == 0 {
		return func(text.Word) bool { return false }
	}
	var hits []query.Word
	matched := map[string]bool{}
	for _, w := range query.Words(s) {
		is, seen := matched[w.Stem]
		if !seen {
			is = m.matches(w.Stem)
			matched[w.Stem] = is
		}
		if is {
			hits = append(hits, w)
		}
	}
	// In languages indexed by pairs of characters, a character matches with every pair that contains it.
	return func(w text.Word) bool {
		i, _ := slices.BinarySearchFunc(hits, w.Start, func(hit query.Word, start int) int { return cmp.Compare(hit.End, start+1) })
		return i < len(hits) && hits[i].Start < w.End
	}
}

func (m *highlighter) matches(stem string) bool {
	return m.stems[stem] ||
		slices.ContainsFunc(m.prefixes, func(begin string) bool { return strings.HasPrefix(stem, begin) }) ||
		slices.ContainsFunc(m.fuzzy, func(w query.Word) bool { return query.WithinEdits(w.Stem, stem, query.MaxEdits(w.Text)) })
}
