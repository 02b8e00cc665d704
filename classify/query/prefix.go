package query

import "strings"

// PrefixStems returns the alternatives for the last word of a Text of the [Prefix] form: begin, a prefix of
// stems, and ends, stems that match too. ends holds the word's own stem first, then stems of longer words
// that begin with it: "runnin" becomes "run". begin is empty if there are no words.
func PrefixStems(words string) (begin string, ends []string) {
	queryWords := QueryWords(words)
	if len(queryWords) == 0 {
		return "", nil
	}
	last := queryWords[len(queryWords)-1]
	return last.Text, completions(last)
}

// suffixes are endings with which the stem becomes shorter than the word.
var suffixes = strings.Fields("g ng ing n on s es d ed e y r")

// completions returns the stems of the word and its completions, its own stem first.
func completions(w Word) []string {
	ends := []string{w.Stem}
	if len(w.Text) < minCompleted || !isASCII(w.Text) {
		return ends
	}
	for _, ending := range suffixes {
		s := StemOf(w.Text + ending)
		if len(s) < len(w.Text) && s != w.Stem && len(s) >= len(w.Text)/2 {
			ends = append(ends, s)
		}
	}
	return unique(ends)
}

// minCompleted is the number of letters from which suffixes are tried. A shorter word is the beginning of too
// many others.
const minCompleted = 5

// unique removes repeated strings and keeps the order.
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
