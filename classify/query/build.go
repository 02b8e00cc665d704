package query

import (
	"slices"
	"strings"
	"unicode"

	"feedmesh/classify/expression"
)

// noWords represents a term without words: no item matches it.
const noWords = "."

// word returns the condition for a bare word; a final star makes it a prefix. Characters with a meaning
// elsewhere in the syntax are replaced by neutral ones, so that the printed condition parses to the same
// tree.
func word(in Part, s string) Node {
	form := AllWords
	if strings.HasSuffix(s, "*") {
		form = Prefix
	}
	trimmed := strings.TrimLeft(s, "()*|-")
	if len(trimmed) < len(s) {
		trimmed = strings.Replace(trimmed, ":", ",", 1) // "*title:x" is not a field
	}
	s = strings.NewReplacer("(", ",", ")", ",", "*", ",").Replace(strings.TrimRight(trimmed, "()*|-"))
	s = strings.TrimRight(s, ",")
	queryWords := QueryWords(s)
	switch {
	case len(queryWords) == 0:
		return Text{In: in, Words: noWords}
	case s == "AND", s == "OR":
		s = strings.ToLower(s)
	case len(queryWords) == 1 && isSingleDense(queryWords[0].Stem):
		form = Prefix
	}
	return Text{In: in, Form: form, Words: s}
}

// isSingleDense reports whether a stem is one character of a script without spaces. Texts that contain the
// character may have no such word, only words that begin with it.
func isSingleDense(stem string) bool {
	runes := []rune(stem)
	return isDense(runes[0]) && (len(runes) == 1 || len(runes) == 2 && unicode.IsMark(runes[1]))
}

func phrase(in Part, s string) Node {
	if len(QueryWords(s)) == 0 {
		s = noWords
	}
	return Text{In: in, Form: Phrase, Words: s}
}

// All returns the conjunction of the nodes, ignoring nil; nil for none.
func All(first Node, others ...Node) Node {
	return allOf(slices.DeleteFunc(append([]Node{first}, others...), func(n Node) bool { return n == nil }))
}

// allOf returns the conjunction of the nodes, nil for none. Consecutive words become one condition. Terms
// without words are dropped unless nothing else is left: "rust - go".
func allOf(nodes []Node) Node {
	flat, is := expression.AllOf(nodes).(And)
	if !is {
		return expression.AllOf(nodes)
	}
	var kept []Node
	for i, n := range flat {
		last := len(kept) - 1
		switch {
		case isNoWords(n) && (last >= 0 || i < len(flat)-1):
		case last >= 0 && joins(kept[last], n):
			a, b := kept[last].(Text), n.(Text)
			kept[last] = Text{In: a.In, Form: b.Form, Words: a.Words + " " + b.Words}
		default:
			kept = append(kept, n)
		}
	}
	return expression.AllOf(kept)
}

// joins reports whether b adds words to the condition a.
func joins(a, b Node) bool {
	x, isText := a.(Text)
	y, isToo := b.(Text)
	return isText && isToo && x.In == y.In && x.Form == AllWords && y.Form != Phrase
}

func isNoWords(n Node) bool {
	t, is := n.(Text)
	return is && t.In == Anywhere && t.Words == noWords
}
