// Package text turns markup into clean markup and words. It knows nothing of
// where the words come from.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Word is one word of a text: Text in lower case with ё as е, and the bytes
// [Start, End) it stands at.
type Word struct {
	Text       string
	Start, End int
}

// Words returns the words of s, in order of appearance: runs of letters, marks
// and digits, with the signs that IT names carry ("c++", "c#", "node.js",
// "don't"). Nil if there are none. O(len(s)).
func Words(s string) []Word {
	var words []Word
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWord(r) {
			i += size
			continue
		}
		end := wordEnd(s, i)
		words = append(words, Word{Text: fold(s[i:end]), Start: i, End: end})
		i = end
	}
	return words
}

// wordEnd returns where the word that starts at i ends.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if isWord(r) {
			i += size
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		switch {
		case (r == '.' || r == '\'' || r == '’') && isWord(next): // node.js, 7.1, don't
			i += size
			continue
		case r == '#' && !isWord(next): // c#
			return i + size
		case r == '+' && strings.HasPrefix(s[i:], "++"): // c++
			return i + 2
		}
		return i
	}
	return i
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func fold(s string) string {
	s = strings.ToLower(s)
	if strings.ContainsAny(s, "ё’") {
		s = strings.NewReplacer("ё", "е", "’", "'").Replace(s)
	}
	return s
}
