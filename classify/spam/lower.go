package spam

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lowered is [strings.ToLower], faster for Cyrillic letters.
func lowered(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		b.WriteRune(lower(r))
	}
	return b.String()
}

// lower is [unicode.ToLower] with a fast path for most letters.
func lower(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z', r >= 'А' && r <= 'Я':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf, r >= 'а' && r <= 'я':
		return r
	}
	return unicode.ToLower(r)
}
