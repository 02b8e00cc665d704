package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lines collects text with its white space folded: one space, or one line
// break where a line has ended, never at the beginning or the end.
type lines struct {
	b   []byte
	gap byte // what stands between b and the next word: 0, ' ' or '\n'
}

func (l *lines) String() string { return string(l.b) }

// line ends the current line.
func (l *lines) line() { l.gap = '\n' }

// ended reports whether what comes next begins a line.
func (l *lines) ended() bool { return l.gap == '\n' || len(l.b) == 0 }

// space ends the current word.
func (l *lines) space() {
	if l.gap == 0 {
		l.gap = ' '
	}
}

// separate keeps the words before a tag apart from those behind it.
func (l *lines) separate(k kind, name string) {
	switch {
	case k == block || name == "br" || name == "hr":
		l.line()
	case k == cell:
		l.space()
	}
}

// add appends s. Line breaks in it count as such if keep is true, else as
// white space. Characters that nobody sees go.
func (l *lines) add(s string, keep bool) {
	for s != "" {
		if n := solid(s); n > 0 {
			l.glue()
			l.b = append(l.b, s[:n]...)
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\n' && keep:
			l.line()
		case unicode.IsSpace(r):
			l.space()
		case !invisible(r): // a byte that is no UTF-8
			l.glue()
			l.b = utf8.AppendRune(l.b, r)
		}
		s = s[size:]
	}
}

// glue appends what stands between the last word and the next.
func (l *lines) glue() {
	if l.gap != 0 && len(l.b) > 0 {
		l.b = append(l.b, l.gap)
	}
	l.gap = 0
}

// solid returns how many bytes at the beginning of s stay as they are: no white
// space but single spaces between words, nothing invisible, valid UTF-8.
func solid(s string) int {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c > ' ' && c < utf8.RuneSelf:
			i++
		case c == ' ' && i > 0 && i+1 < len(s) && (s[i+1] > ' ' && s[i+1] < utf8.RuneSelf || isLetters(s[i+1])):
			i++
		case isLetters(c) && i+1 < len(s) && !utf8.RuneStart(s[i+1]):
			i += 2
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 || unicode.IsSpace(r) || invisible(r) {
				return i
			}
			i += size
		}
	}
	return len(s)
}

// isLetters reports whether a first byte begins characters of two bytes that are
// neither white space nor controls nor invisible: U+00C0 to U+07FF, letters mostly.
func isLetters(c byte) bool { return c >= 0xC3 && c <= 0xDF }

// invisible reports whether r only tells where a line may or may not break.
func invisible(r rune) bool {
	return r == '\u00AD' || r == '\u200B' || r == '\u2060' || r == '\uFEFF'
}

// legible returns s as valid UTF-8 without control characters but \n and \t;
// \r\n and \r become \n.
func legible(s string) string {
	if isLegible(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

func isLegible(s string) bool {
	for i := range len(s) {
		if !doubtful[s[i]] {
			continue
		}
		if s[i] != 0xC2 || i+1 < len(s) && s[i+1] < 0xA0 { // U+0080 to U+009F are controls as well
			return false
		}
	}
	return utf8.ValidString(s)
}

// doubtful are the bytes of controls, and what some of them begin with.
var doubtful = func() (is [256]bool) {
	for c := range is {
		is[c] = c < ' ' && c != '\n' && c != '\t' || c == 0x7F || c == 0xC2
	}
	return is
}()

// cut returns at most max bytes of valid UTF-8 s, whole characters.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}
