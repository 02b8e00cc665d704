package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lineBuffer collects text with white space collapsed: one space, or one line break where a line ended,
// never at the beginning or the end.
type lineBuffer struct {
	b   []byte
	gap byte // pending separator before the next word: 0, ' ' or '\n'
}

func (l *lineBuffer) String() string { return string(l.b) }

// endLine ends the current line.
func (l *lineBuffer) endLine() { l.gap = '\n' }

// atLineStart reports whether the next word begins a line.
func (l *lineBuffer) atLineStart() bool { return l.gap == '\n' || len(l.b) == 0 }

// endWord ends the current word.
func (l *lineBuffer) endWord() {
	if l.gap == 0 {
		l.gap = ' '
	}
}

// separate keeps the words before and after a tag separate.
func (l *lineBuffer) separate(k kind, name string) {
	switch {
	case k == block || name == "br" || name == "hr":
		l.endLine()
	case k == tableCell:
		l.endWord()
	}
}

// add appends s. Line breaks in it are kept if keep is true, otherwise they count as white space. Invisible
// characters are dropped.
func (l *lineBuffer) add(s string, keep bool) {
	for s != "" {
		if n := unchangedPrefix(s); n > 0 {
			l.flushGap()
			l.b = append(l.b, s[:n]...)
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\n' && keep:
			l.endLine()
		case unicode.IsSpace(r):
			l.endWord()
		case !invisible(r): // invalid UTF-8 becomes U+FFFD
			l.flushGap()
			l.b = utf8.AppendRune(l.b, r)
		}
		s = s[size:]
	}
}

// flushGap appends the pending separator.
func (l *lineBuffer) flushGap() {
	if l.gap != 0 && len(l.b) > 0 {
		l.b = append(l.b, l.gap)
	}
	l.gap = 0
}

// unchangedPrefix returns the length of the prefix of s that is copied unchanged: no white space except
// single spaces between words, nothing invisible, valid UTF-8.
func unchangedPrefix(s string) int {
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

// isLetters reports whether a lead byte begins two-byte characters that are neither white space, controls nor
// invisible: U+00C0 to U+07FF, mostly letters.
func isLetters(c byte) bool { return c >= 0xC3 && c <= 0xDF }

// invisible reports whether r only controls line breaks.
func invisible(r rune) bool {
	return r == '\u00AD' || r == '\u200B' || r == '\u2060' || r == '\uFEFF'
}

// sanitizeUTF8 returns s as valid UTF-8 without control characters except \n and \t; \r\n and \r become \n.
func sanitizeUTF8(s string) string {
	if isSanitized(s) {
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

func isSanitized(s string) bool {
	for i := range len(s) {
		if !controlBytes[s[i]] {
			continue
		}
		if s[i] != 0xC2 || i+1 < len(s) && s[i+1] < 0xA0 { // U+0080 to U+009F are controls too
			return false
		}
	}
	return utf8.ValidString(s)
}

// controlBytes marks the bytes of control characters and the lead byte of some.
var controlBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = c < ' ' && c != '\n' && c != '\t' || c == 0x7F || c == 0xC2
	}
	return is
}()

// cut returns at most max bytes of valid UTF-8 s, in whole characters.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}
