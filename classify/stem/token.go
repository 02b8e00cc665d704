package stem

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// A token is a piece of text that counts as a word.
type token struct {
	text string // as written
	kind kind
}

type kind uint8

const (
	plain     kind = iota
	exact          // not stemmed: two characters of a script without spaces
	elided         // an article or the like merged with the next word
	addressed      // a URL or mail address, which does not count as a word
)

// tokens yields the words of a text in order: runs of letters, marks and digits, with the signs that rules
// allow in names; for scripts without spaces each pair of neighboring characters, or a single one; and the
// addresses between them.
func tokens(s string, elisions map[string]bool) iter.Seq[token] {
	return func(yield func(token) bool) {
		last := ' '
		for i := 0; i < len(s); {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !isWord(last) || isDense(last) {
				if n := address(s[i:]); n > 0 {
					if !yield(token{s[i : i+n], addressed}) {
						return
					}
					i, last = i+n, ' '
					continue
				}
			}
			var end int
			more := true
			switch {
			case isDense(r):
				end, more = pairs(s, i, yield)
			case isWord(r) && !isHidden(r) || r == '.' && !isWord(last) && dotNamed(s[i:]) > 0:
				var k kind
				end, k = wordEnd(s, i, elisions)
				if !unicode.IsMark(r) || fold(s[i:end]) != "" {
					more = yield(token{s[i:end], k})
				}
			default:
				end = i + size
			}
			if !more {
				return
			}
			last, _ = utf8.DecodeLastRuneInString(s[i:end])
			i = end
		}
	}
}

// wordEnd returns the end of the word that starts at i, and its kind.
func wordEnd(s string, i int, elisions map[string]bool) (int, kind) {
	start := i
	i += dotNamed(s[i:])
	for i < len(s) {
		if isASCIIWord(s[i]) {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isDense(r) {
			break
		}
		if isWord(r) {
			i += size
			continue
		}
		if isApostrophe(r) && len(elisions) > 0 && i-start <= longestElision && elisions[fold(s[start:i])] && isWord(runeAt(s, i+size)) {
			return i + size, elided
		}
		joins, last := joined(s[start:i], r, s[i+size:])
		if !joins {
			break
		}
		i += size
		if last {
			break
		}
	}
	return i, plain
}

// pairs yields each pair of neighboring characters of the run that starts at i, with their marks. It returns
// the end of the run, and false if the consumer stopped.
func pairs(s string, i int, yield func(token) bool) (int, bool) {
	first, second := i, cellEnd(s, i)
	if !isDense(runeAt(s, second)) {
		return second, yield(token{s[first:second], exact})
	}
	for isDense(runeAt(s, second)) {
		end := cellEnd(s, second)
		if !yield(token{s[first:end], exact}) {
			return end, false
		}
		first, second = second, end
	}
	return second, true
}

// cellEnd returns the end of the character at i, its marks included.
func cellEnd(s string, i int) int {
	_, size := utf8.DecodeRuneInString(s[i:])
	for i += size; i < len(s); i += size {
		var r rune
		if r, size = utf8.DecodeRuneInString(s[i:]); !unicode.IsMark(r) && !isHidden(r) {
			break
		}
	}
	return i
}

// runeAt returns the character at i, or 0 at the end.
func runeAt(s string, i int) rune {
	if i >= len(s) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return isASCIIWord(byte(r))
	}
	if r >= 'Ѐ' && r <= 'ҁ' || r >= '一' && r <= '鿿' { // the most frequent after ASCII
		return true
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || isHidden(r))
}

func isASCIIWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isDense reports whether r belongs to a script without spaces between words, or, like Korean, with particles
// attached to them.
func isDense(r rune) bool {
	switch {
	case r < 0xE00:
		return false
	case r >= '一' && r <= '鿿', r >= 'ぁ' && r <= 'ゖ', r >= 'ァ' && r <= 'ヺ', r >= '가' && r <= '힣': // almost all cases
		return true
	case r < 0x1100: // Thai, Lao, Burmese, but not Tibetan or Georgian
		return unicode.IsLetter(r) && (r < 0xF00 || r >= 0x1000 && r < 0x10A0)
	case r < 0x3000:
		return r < 0x1200 || r >= 0x1780 && r < 0x1800 && unicode.IsLetter(r) // Korean, Khmer
	case r == 'ー' || r == '々':
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && unicode.IsLetter(r)
}
