// Package text turns untrusted markup into safe markup and plain text ([Rules.Clean], [PlainText], [Title]),
// makes excerpts ([Excerpt], [Highlight]) and splits texts into words ([Words]). Its default [Rules] can be
// replaced by a JSON document ([Parse]). Markup is limited to 1 MB. The package is independent of the source
// of the texts.
package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Word is a word of a text: Text in lower case with ё as е, composed (NFC), and its byte range [Start,
// End).
type Word struct {
	Text       string
	Start, End int
}

// Words returns the words of s in order: runs of letters, marks and digits, with the signs of names in IT
// ("c++", "c#", "node.js", "don't"). In Chinese and Japanese, which have no spaces between words, each
// character is a word. Nil if there are none. O(len(s)).
func Words(s string) []Word {
	var words []Word
	for w := range EachWord(s) {
		if words == nil {
			words = make([]Word, 0, EstimateWords(s))
		}
		words = append(words, w)
	}
	return words
}

// EstimateWords estimates the number of words in a text by its spaces, as a slice capacity.
func EstimateWords(s string) int { return 9*strings.Count(s, " ")/8 + 4 }

// EachWord yields the words of [Words] without allocating a slice.
func EachWord(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		var changed strings.Builder // words that differ from their text in s, in one buffer
		var word [32]byte
		for start, end := range wordBounds(s) {
			text := s[start:end]
			if !isFolded(text) {
				from := changed.Len()
				changed.Write(appendFolded(word[:0], text))
				text = changed.String()[from:]
			}
			if !yield(Word{Text: text, Start: start, End: end}) {
				return
			}
		}
	}
}

// EachFolded yields the Text of each word of [Words]. The bytes are valid until the next iteration.
func EachFolded(s string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var word []byte
		for start, end := range wordBounds(s) {
			if word = appendFolded(word[:0], s[start:end]); !yield(word) {
				return
			}
		}
	}
}

// wordBounds yields the start and end of each word of s.
func wordBounds(s string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !isWord(r) || r == softHyphen {
				i += size
				continue
			}
			end := wordEnd(s, i)
			if !yield(i, end) {
				return
			}
			i = end
		}
	}
}

// wordEnd returns the end of the word that starts at i.
func wordEnd(s string, i int) int {
	start := i
	for {
		i = plainEnd(s, i)
		if i == len(s) || s[i] < utf8.RuneSelf && !wordSigns[s[i]] { // the usual case: a space
			return i
		}
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
}

// wordSigns are the signs that a word may contain or end with.
var wordSigns = [utf8.RuneSelf]bool{'.': true, '\'': true, '#': true, '+': true}

// plainEnd returns the end of the run of ASCII and Russian letters and digits that begins at i. Most words
// consist of nothing else.
func plainEnd(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case isASCIIWord(c):
			i++
		case (c == 0xD0 || c == 0xD1) && i+1 < len(s) && !utf8.RuneStart(s[i+1]): // U+0400 to U+047F
			i += 2
		default:
			return i
		}
	}
	return i
}

// marksEnd returns the end of the combining marks at i.
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

// softHyphen marks a possible line break and is not part of the word.
const softHyphen = '\u00AD'

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIWord(byte(r))
	}
	if r >= 'Ѐ' && r <= 'ҁ' { // Cyrillic letters, the most frequent after ASCII
		return true
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == softHyphen)
}

func isASCIIWord(c byte) bool { return asciiWords[c] }

var asciiWords = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	return is
}()

// isIdeograph reports whether r belongs to a script without spaces in which a character corresponds roughly
// to a word.
func isIdeograph(r rune) bool {
	return r >= 0x3040 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー')
}

// isFolded reports whether a word is already in the form for comparison: lower-case ASCII or Russian letters,
// as almost all words are.
func isFolded(word string) bool {
	for i := 0; i < len(word); i++ {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			return false
		}
		if c >= utf8.RuneSelf {
			if !isSmallRussian(word[i:]) {
				return false
			}
			i++
		}
	}
	return true
}

// isSmallRussian reports whether s begins with a letter from а to я.
func isSmallRussian(s string) bool {
	return len(s) > 1 && (s[0] == 0xD0 && s[1] >= 0xB0 && s[1] <= 0xBF || s[0] == 0xD1 && s[1] >= 0x80 && s[1] <= 0x8F)
}

// appendFolded appends the form in which words are compared. ASCII and Russian letters need lower-casing
// only.
func appendFolded(b []byte, word string) []byte {
	begin := len(b)
	b = append(b, word...)
	for i := begin; i < len(b); i++ {
		c := b[i]
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				b[i] = c + 'a' - 'A'
			}
			continue
		}
		if !lowerRussian(b[i:]) {
			return append(b[:begin], folded.Replace(strings.ToLower(norm.NFC.String(word)))...)
		}
		i++
	}
	return b
}

// lowerRussian reports whether b begins with a letter from А to я, and lower-cases it.
func lowerRussian(b []byte) bool {
	switch {
	case len(b) < 2:
		return false
	case b[0] == 0xD0 && b[1] >= 0xB0 && b[1] <= 0xBF, b[0] == 0xD1 && b[1] >= 0x80 && b[1] <= 0x8F: // а to п, р to я
		return true
	case b[0] == 0xD0 && b[1] >= 0x90 && b[1] <= 0x9F: // А to П
		b[1] += 0x20
		return true
	case b[0] == 0xD0 && b[1] >= 0xA0 && b[1] <= 0xAF: // Р to Я
		b[0], b[1] = 0xD1, b[1]-0x20
		return true
	}
	return false
}

var folded = strings.NewReplacer("ё", "е", "’", "'", string(softHyphen), "")
