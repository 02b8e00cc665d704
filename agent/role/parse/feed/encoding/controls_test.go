package encoding

import (
	"strings"
	"testing"
)

// Each character occurs at each offset among eight bytes, alone and after another one.
func TestWithoutControls_RemovesThemAtEveryOffset(t *testing.T) {
	drop := func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' {
			return -1
		}
		return r
	}
	for _, around := range []string{"plain", "zwölf", "\n\tон", "\x01"} {
		for n := range 20 {
			for c := rune(0); c < 0x100; c++ {
				s := strings.Repeat("x", n) + string(c) + around + string(c) + strings.Repeat("я", n)
				want := strings.Map(drop, s)
				if got := WithoutControls(s); got != want {
					t.Fatalf("%q: got %q, want %q", s, got, want)
				}
				if got := WithoutControls([]byte(s)); string(got) != want {
					t.Fatalf("%q as bytes: got %q, want %q", s, got, want)
				}
			}
		}
	}
}
