package query

import (
	"slices"
	"strings"
	"unicode"
)

// noWords stands for what has no words in it: no item has it.
const noWords = "."

// word returns the condition that a bare word is, which ends with a star if it may
// go on. Signs that mean something elsewhere become such that mean nothing, so that
// it can be typed again.
func word(in Part, s string) Node {
	form := AllWords
	if strings.HasSuffix(s, "*") {
		form = Prefix
	}
	begun := strings.TrimLeft(s, "()*|-")
	if len(begun) < len(s) {
		begun = strings.Replace(begun, ":", ",", 1) // "*title:x" is no field
	}
	s = strings.NewReplacer("(", ",", ")", ",", "*", ",").Replace(strings.TrimRight(begun, "()*|-"))
	s = strings.TrimRight(s, ",")
	sought := Sought(s)
	switch {
	case len(sought) == 0:
		return Text{In: in, Words: noWords}
	case s == "AND", s == "OR":
		s = strings.ToLower(s)
	case len(sought) == 1 && isLone(sought[0].Stem):
		form = Prefix
	}
	return Text{In: in, Form: form, Words: s}
}

// isLone reports whether a stem is one character of a script without spaces: the
// texts that have it may have no such word, but words that begin with it.
func isLone(stem string) bool {
	runes := []rune(stem)
	return isDense(runes[0]) && (len(runes) == 1 || len(runes) == 2 && unicode.IsMark(runes[1]))
}

func phrase(in Part, s string) Node {
	if len(Sought(s)) == 0 {
		s = noWords
	}
	return Text{In: in, Form: Phrase, Words: s}
}

// All returns the condition that all of the nodes hold, nil ones left out: nil for
// none.
func All(first Node, others ...Node) Node {
	return allOf(slices.DeleteFunc(append([]Node{first}, others...), func(n Node) bool { return n == nil }))
}

// allOf returns the condition that all of the nodes hold: nil for none. What has no
// words in it is left out if there is anything else: "rust - go".
func allOf(nodes []Node) Node {
	var flat And
	for _, n := range nodes {
		if inner, is := n.(And); is {
			flat = append(flat, inner...)
			continue
		}
		flat = append(flat, n)
	}
	var kept And
	for i, n := range flat {
		if isNoWords(n) && (len(kept) > 0 || i < len(flat)-1) {
			continue
		}
		if last := len(kept) - 1; last >= 0 && joins(kept[last], n) {
			a, b := kept[last].(Text), n.(Text)
			kept[last] = Text{In: a.In, Form: b.Form, Words: a.Words + " " + b.Words}
			continue
		}
		kept = append(kept, n)
	}
	switch len(kept) {
	case 0:
		return nil
	case 1:
		return kept[0]
	}
	return kept
}

// joins reports whether b is more words of what a asks for.
func joins(a, b Node) bool {
	x, isText := a.(Text)
	y, isToo := b.(Text)
	return isText && isToo && x.In == y.In && x.Form == AllWords && y.Form != Phrase
}

func isNoWords(n Node) bool {
	t, is := n.(Text)
	return is && t.In == Anywhere && t.Words == noWords
}

// oneOf returns the condition that one of the nodes holds: nil for none.
func oneOf(nodes []Node) Node {
	var flat Or
	for _, n := range nodes {
		if inner, is := n.(Or); is {
			flat = append(flat, inner...)
			continue
		}
		flat = append(flat, n)
	}
	switch len(flat) {
	case 0:
		return nil
	case 1:
		return flat[0]
	}
	return flat
}
