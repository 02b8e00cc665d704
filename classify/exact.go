package classify

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// occurrences yields the offsets at which an exact term occurs in a text between word boundaries. A suffix
// that forms another name is not a boundary: C does not occur in C++ or C#, nor Node in Node.js.
func occurrences(text, want string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; want != ""; {
			i := strings.Index(text[from:], want)
			if i < 0 {
				return
			}
			start := from + i
			if beginsWord(text[:start], want) && endsWord(want, text[start+len(want):]) && !yield(start) {
				return
			}
			_, size := utf8.DecodeRuneInString(text[start:])
			from = start + size
		}
	}
}

func occursExactly(text, want string) bool {
	for range occurrences(text, want) {
		return true
	}
	return false
}

func beginsWord(before, word string) bool {
	if r, _ := utf8.DecodeRuneInString(word); !isLetter(r) {
		return true
	}
	r, size := utf8.DecodeLastRuneInString(before)
	if r == '.' {
		r, _ = utf8.DecodeLastRuneInString(before[:len(before)-size])
	}
	return !isLetter(r)
}

func endsWord(word, after string) bool {
	if r, _ := utf8.DecodeLastRuneInString(word); !isLetter(r) {
		return true
	}
	r, size := utf8.DecodeRuneInString(after)
	switch r {
	case '+', '#':
		return false
	case '.':
		r, _ = utf8.DecodeRuneInString(after[size:])
	}
	return !isLetter(r)
}

// isLetter reports whether r is a letter, a digit or a combining mark.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}
