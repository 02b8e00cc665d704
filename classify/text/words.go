// Package text turns markup into clean markup and words. It knows nothing of
// where the words come from.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Word is one word of a text: Text in lower case with ё as е, composed (NFC),
// and the bytes [Start, End) it stands at.
type Word struct {
	Text       string
	Start, End int
}

// Words returns the words of s, in order of appearance: runs of letters, marks
// and digits, with the signs that IT names carry ("c++", "c#", "node.js",
// "don't"). Chinese and Japanese, written without spaces, count each character
// as a word. Nil if there are none. O(len(s)).
func Words(s string) []Word {
	var words []Word
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isWord(r) || r == softHyphen {
			i += size
			continue
		}
		end := wordEnd(s, i)
		if words == nil {
			words = make([]Word, 0, len(s)/8+1)
		}
		words = append(words, Word{Text: fold(s[i:end]), Start: i, End: end})
		i = end
	}
	return words
}

// wordEnd returns where the word that starts at i ends.
func wordEnd(s string, i int) int {
	start := i
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if isIdeograph(r) {
			if i == start {
				return marksEnd(s, i+size)
			}
			return i
		}
		if isWord(r) {
			i += size
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		switch {
		case (r == '.' || r == '\'' || r == '’') && isWord(next) && !isIdeograph(next): // node.js, 7.1, don't
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

// marksEnd returns where the marks that belong to the character before i end.
func marksEnd(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsMark(r) {
			break
		}
		i += size
	}
	return i
}

// softHyphen says where a word may break, and is no part of it.
const softHyphen = '\u00AD'

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	if r >= 'Ѐ' && r <= 'ҁ' { // Cyrillic letters, the commonest here after ASCII
		return true
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == softHyphen)
}

// isIdeograph reports whether r belongs to a script without spaces in which a
// character is about what a word is elsewhere.
func isIdeograph(r rune) bool {
	return r >= 0x3040 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー')
}

// fold returns the form in which words are compared. Almost all words are of
// plain Latin or Russian letters, for which lower case is all there is to do.
func fold(s string) string {
	plain, lower := true, true
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			lower = lower && (r < 'A' || r > 'Z')
		case r >= 'а' && r <= 'я':
		case r >= 'А' && r <= 'Я':
			lower = false
		default:
			plain = false
		}
	}
	switch {
	case plain && lower:
		return s
	case plain:
		return strings.ToLower(s)
	}
	return folded.Replace(strings.ToLower(norm.NFC.String(s)))
}

var folded = strings.NewReplacer("ё", "е", "’", "'", string(softHyphen), "")
