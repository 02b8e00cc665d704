package date

import (
	"strings"
	"unicode"
)

// normalize returns s with digits of other scripts, spaces, full-width characters and minus signs in ASCII,
// and without invisible characters. It returns s itself if s is ASCII.
func normalize(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.TrimSpace(strings.Map(normalizeRune, s))
}

func normalizeRune(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r == '\u2212', r == '\uFE63': // minus: before an offset
		return '-'
	case '\uFF01' <= r && r <= '\uFF5E': // full-width ASCII
		return r - '\uFF01' + '!'
	case unicode.IsSpace(r), r == '\u180E':
		return ' '
	case unicode.Is(unicode.Cf, r): // byte order mark, joiners, text direction
		return -1
	}
	for _, zero := range zeros {
		if zero <= r && r < zero+10 {
			return r - zero + '0'
		}
	}
	return r
}

// zeros are the zero digits of the scripts in dates of feeds.
var zeros = [...]rune{'\u0660', '\u06F0', '\u0966', '\u09E6', '\u0E50'} // Arabic, Persian, Devanagari, Bengali, Thai

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
