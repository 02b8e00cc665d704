// Package text turns markup into clean markup and words. It knows nothing of
// where the words come from.
package text

import (
	"iter"
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
	for w := range Each(s) {
		if words == nil {
			words = make([]Word, 0, Room(s))
		}
		words = append(words, w)
	}
	return words
}

// Room returns about how many words a text has, by its spaces: room for them.
func Room(s string) int { return 9*strings.Count(s, " ")/8 + 4 }

// Each yields the words of [Words] one after another, for who keeps them in another
// form.
func Each(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		var changed strings.Builder // the words that are not as they stand in s, in one string
		var word [32]byte
		for start, end := range places(s) {
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

// Folded yields the Text of each word of [Words], for who needs no more of it. The
// bytes hold until the next one.
func Folded(s string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var word []byte
		for start, end := range places(s) {
			if word = appendFolded(word[:0], s[start:end]); !yield(word) {
				return
			}
		}
	}
}

// places yields where the words of s begin and end.
func places(s string) iter.Seq2[int, int] {
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

// wordEnd returns where the word that starts at i ends.
func wordEnd(s string, i int) int {
	start := i
	for {
		i = plainEnd(s, i)
		if i == len(s) || s[i] < utf8.RuneSelf && !joiners[s[i]] { // as most do, at a space
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

// joiners are the signs that a word may have in it or at its end.
var joiners = [utf8.RuneSelf]bool{'.': true, '\'': true, '#': true, '+': true}

// plainEnd returns where the run of ASCII and Russian letters and digits ends that
// begins at i. Most words are nothing else.
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
		return isASCIIWord(byte(r))
	}
	if r >= 'Ѐ' && r <= 'ҁ' { // Cyrillic letters, the commonest here after ASCII
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

// isIdeograph reports whether r belongs to a script without spaces in which a
// character is about what a word is elsewhere.
func isIdeograph(r rune) bool {
	return r >= 0x3040 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー')
}

// isFolded reports whether a word is in the form in which words are compared:
// small ASCII or Russian letters. Almost all are.
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

// isSmallRussian reports whether s begins with one of а to я.
func isSmallRussian(s string) bool {
	return len(s) > 1 && (s[0] == 0xD0 && s[1] >= 0xB0 && s[1] <= 0xBF || s[0] == 0xD1 && s[1] >= 0x80 && s[1] <= 0x8F)
}

// appendFolded appends the form in which words are compared. For ASCII and Russian
// letters lower case is all there is to do.
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

// lowerRussian reports whether b begins with one of А to я, and makes that a small
// letter.
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
