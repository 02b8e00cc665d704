package query

import "strings"

// Begins returns what the last word of a Text of the [Prefix] form asks for: what a
// stem may begin with, and the stems that will do as well. Those are its own, first,
// and those that it may get as it goes on: "runnin" becomes "run". begin is empty if
// there are no words.
func Begins(words string) (begin string, ends []string) {
	sought := Sought(words)
	if len(sought) == 0 {
		return "", nil
	}
	last := sought[len(sought)-1]
	return last.Text, endsOf(last)
}

// endings are those that make a stem shorter than the word was before them.
var endings = strings.Fields("g ng ing n on s es d ed e y r")

// endsOf returns the stems that a word may get, its own first.
func endsOf(w Word) []string {
	ends := []string{w.Stem}
	if len(w.Text) < minGrowing || !isASCII(w.Text) {
		return ends
	}
	for _, ending := range endings {
		s := StemOf(w.Text + ending)
		if len(s) < len(w.Text) && s != w.Stem && len(s) >= len(w.Text)/2 {
			ends = append(ends, s)
		}
	}
	return unique(ends)
}

// minGrowing is how many letters a word must have before endings are tried: a
// shorter one is the beginning of too much.
const minGrowing = 5

// unique returns the strings, each once, in order.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	kept := list[:0]
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			kept = append(kept, s)
		}
	}
	return kept
}
