package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxEdits returns the number of edits that a search allows in the stem of a word, 0 to 2; word has the form
// of [Word.Text]. An edit inserts, deletes or replaces a letter, or swaps two neighbors. Short stems allow
// none: the stem of "nothing" is close to "not".
func MaxEdits(word string) int {
	letters, left := utf8.RuneCountInString(word), utf8.RuneCountInString(StemOf(word))
	switch {
	case letters < 5 || left < 5 || strings.ContainsFunc(word, unicode.IsDigit):
		return 0
	case letters < 9 || left < 8:
		return 1
	}
	return 2
}

// WithinEdits reports whether at most the given number of edits turns a into b.
//
// Source: F. Damerau, A technique for computer detection and correction of spelling errors, 1964, in the
// variant that edits no substring twice. O(len(a)·len(b)).
func WithinEdits(a, b string, mistakes int) bool {
	x, y := []rune(a), []rune(b)
	if max(len(x)-len(y), len(y)-len(x)) > mistakes {
		return false
	}
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			other := 1
			if x[i-1] == y[j-1] {
				other = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+other)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)] <= mistakes
}
