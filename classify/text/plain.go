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

// add appends s. Line breaks in it count as such if keep is true, else as
// white space. Characters that nobody sees go.
func (l *lines) add(s string, keep bool) {
	for _, r := range s {
		switch {
		case r == '\n' && keep:
			l.line()
			continue
		case unicode.IsSpace(r):
			l.space()
			continue
		case r >= 0xAD && invisible(r):
			continue
		}
		if l.gap != 0 && len(l.b) > 0 {
			l.b = append(l.b, l.gap)
		}
		l.gap = 0
		l.b = utf8.AppendRune(l.b, r)
	}
}

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
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if b < ' ' && b != '\n' && b != '\t' || b == 0x7F {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) {
			return false
		}
		i += size
	}
	return true
}

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
