package api

import (
	"cmp"
	"slices"
	"strings"

	"feedmesh/classify/query"
	"feedmesh/classify/text"
)

// A marker tells the words of a text that a query asks for.
type marker struct {
	stems  map[string]bool
	begins []string     // what words may begin with
	nearly []query.Word // words that may have mistakes
}

// newMarker returns a marker of what a query asks for, with mistakes in it or not.
func newMarker(where query.Node, nearly bool) *marker {
	m := &marker{stems: map[string]bool{}}
	for _, t := range query.Texts(where) {
		words := t.Sought()
		for i, w := range words {
			m.stems[w.Stem] = true
			goesOn := t.Form == query.Prefix && i == len(words)-1
			if nearly && t.Form != query.Phrase && !goesOn && query.Forgives(w.Text) > 0 {
				m.nearly = append(m.nearly, w)
			}
		}
		if t.Form == query.Prefix {
			begin, ends := query.Begins(t.Words)
			m.begins = append(m.begins, begin)
			for _, stem := range ends {
				m.stems[stem] = true
			}
		}
	}
	return m
}

// in returns what tells which words of the text s are asked for.
func (m *marker) in(s string) func(text.Word) bool {
	if len(m.stems) == 0 {
		return func(text.Word) bool { return false }
	}
	var hits []query.Word
	known := map[string]bool{}
	for _, w := range query.Words(s) {
		is, seen := known[w.Stem]
		if !seen {
			is = m.marks(w.Stem)
			known[w.Stem] = is
		}
		if is {
			hits = append(hits, w)
		}
	}
	// Where words are pairs of characters, each character stands for all pairs it is in.
	return func(w text.Word) bool {
		i, _ := slices.BinarySearchFunc(hits, w.Start, func(hit query.Word, start int) int { return cmp.Compare(hit.End, start+1) })
		return i < len(hits) && hits[i].Start < w.End
	}
}

func (m *marker) marks(stem string) bool {
	return m.stems[stem] ||
		slices.ContainsFunc(m.begins, func(begin string) bool { return strings.HasPrefix(stem, begin) }) ||
		slices.ContainsFunc(m.nearly, func(w query.Word) bool { return query.IsNear(w.Stem, stem, query.Forgives(w.Text)) })
}
