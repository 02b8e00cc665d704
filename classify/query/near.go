package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Forgives returns how many mistakes a search forgives in the stem of a word, by
// the word as [Word] has its Text: 0 to 2. A mistake is a letter more, less or other, or two neighbours swapped. Of a
// short stem it would leave too little: that of "nothing" is nearly "not".
func Forgives(word string) int {
	letters, left := utf8.RuneCountInString(word), utf8.RuneCountInString(StemOf(word))
	switch {
	case letters < 5 || left < 5 || strings.ContainsFunc(word, unicode.IsDigit):
		return 0
	case letters < 9 || left < 8:
		return 1
	}
	return 2
}

// IsNear reports whether it takes at most so many mistakes to make b of a.
//
// Source: F. Damerau, A technique for computer detection and correction of
// spelling errors, 1964, in the form that changes nothing twice. O(len(a)·len(b)).
func IsNear(a, b string, mistakes int) bool {
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
