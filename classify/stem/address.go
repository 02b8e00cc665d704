package stem

import (
	"strings"
	"unicode"
)

// maxScheme is the maximum length in bytes of the name before :// or @.
const maxScheme = 64

// address returns the length of the URL or mail address that s begins with, or 0.
func address(s string) int {
	n := 0
	for n < len(s) && n < maxScheme && isAddressByte(s[n]) {
		n++
	}
	switch rest := s[n:]; {
	case n == 0:
		return 0
	case strings.HasPrefix(rest, "://"), n == len("mailto") && strings.EqualFold(s[:n], "mailto") && strings.HasPrefix(rest, ":"):
		return n + addressEnd(rest)
	case strings.HasPrefix(rest, "@"):
		domain := 1
		for domain < len(rest) && isAddressByte(rest[domain]) {
			domain++
		}
		if strings.Contains(strings.TrimRight(rest[1:domain], "."), ".") {
			return n + domain
		}
	case n > len("www.") && strings.EqualFold(s[:4], "www."):
		return n + addressEnd(rest)
	}
	return 0
}

// addressEnd returns the length of the rest of a URL whose first part ended before s.
func addressEnd(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("<>\"`|«»“”„", r) || isDense(r) || r >= 0x3000 && r < 0x3040 || r >= 0xFF00
	})
	if end < 0 {
		return len(s)
	}
	return end
}

func isAddressByte(c byte) bool { return isASCIIWord(c) || addressSigns[c] }

var addressSigns = [256]bool{'.': true, '_': true, '%': true, '+': true, '-': true}
