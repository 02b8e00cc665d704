package date

import (
	"strings"
	"unicode"
)

// plain returns s with the digits of other scripts, spaces, signs of full width
// and minus in ASCII, and without marks that are not to be seen. It returns s
// itself if that is ASCII.
func plain(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.TrimSpace(strings.Map(plainRune, s))
}

func plainRune(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r == '\u2212', r == '\uFE63': // minus: before an offset
		return '-'
	case '\uFF01' <= r && r <= '\uFF5E': // ASCII in full width
		return r - '\uFF01' + '!'
	case unicode.IsSpace(r), r == '\u180E':
		return ' '
	case unicode.Is(unicode.Cf, r): // byte order mark, joiners, directions
		return -1
	}
	for _, zero := range zeros {
		if zero <= r && r < zero+10 {
			return r - zero + '0'
		}
	}
	return r
}

// zeros are the first digits of the scripts that dates of feeds use.
var zeros = [...]rune{'\u0660', '\u06F0', '\u0966', '\u09E6', '\u0E50'} // Arabic, Persian, Devanagari, Bengali, Thai

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
