package language

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// fixMojibake repairs the most frequent damage to texts in Latin letters: UTF-8 decoded as Windows-1252,
// which turns "é" into "Ã©". Without the repair a word would become several, in letters of another
// language.
func fixMojibake(s string) string {
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
		// The second byte was a no-break space that became a normal space.
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
