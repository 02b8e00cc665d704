package language

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// mended undoes the commonest damage to texts in Latin letters: UTF-8 that
// somebody took for Windows-1252, so that "é" is "Ã©". It would make a word of
// several, in letters of another language.
func mended(s string) string {
	if !strings.ContainsAny(s, "ÂÃ") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := ' '
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next, more := utf8.DecodeRuneInString(s[i+size:])
		c, ok := charmap.Windows1252.EncodeRune(next)
		switch {
		case r >= 'Â' && r <= 'Å' && ok && c >= 0x80 && c < 0xC0:
			r, size = (r&0x1F)<<6|rune(c&0x3F), size+more
		// The second half was a space that does not break, and became one that does.
		case r == 'Ã' && next == ' ' && last == ' ':
			r = 'à'
		case r == 'Â' && next == ' ' && !unicode.IsUpper(last):
			r, size = next, size+more
		}
		b.WriteRune(r)
		last = r
		i += size
	}
	return b.String()
}
