package spam

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLower_EqualsStandardLibrary(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if got, want := lower(r), unicode.ToLower(r); got != want {
			t.Errorf("%U: got %U, want %U", r, got, want)
		}
	}
	for _, s := range []string{"", "plain", "Plain", "Ёлка И ёж", "\xff", "a\xffÄ\xe2\x82", "İI", "ΟΔΟΣ", "東京 Tokyo", "Ǆ"} {
		if got, want := lowered(s), strings.ToLower(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
