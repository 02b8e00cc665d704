package stem

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns the form in which words are compared: small letters, composed,
// ё as е, without hidden characters. For almost all words small letters are all
// there is to do.
func fold(s string) string {
	plain, lower := true, true
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			lower = lower && (r < 'A' || r > 'Z')
		case r >= 'à' && r <= 'ÿ', r >= 'а' && r <= 'я', r >= 'ђ' && r <= 'џ':
		case r >= 'À' && r <= 'Þ', r >= 'А' && r <= 'Я', r >= 'Ђ' && r <= 'Џ':
			lower = false
		case r >= 'ぁ' && r <= 'ゖ', r >= 'ァ' && r <= 'ヺ', r >= '一' && r <= '鿿', r >= '가' && r <= '힣':
		default:
			plain = false
		}
	}
	switch {
	case plain && lower:
		return s
	case plain:
		return strings.ToLower(s)
	}
	form := norm.NFC
	if strings.ContainsFunc(s, isWide) {
		form = norm.NFKC
	}
	return form.String(strings.Map(folded, form.String(strings.ToLower(s))))
}

// folded returns the character that stands for r in comparisons, or -1 if none
// does.
func folded(r rune) rune {
	switch {
	case r == 'ё':
		return 'е'
	case r == 'ς':
		return 'σ'
	case isApostrophe(r):
		return '\''
	case r == '\u2010' || r == '\u2011': // hyphens that look it
		return '-'
	case r == '\u0301' || r == '\u0300': // accents that did not compose: how a Russian word is stressed
		return -1
	case r == '\u0307': // of the small letter that Turkish İ becomes
		return -1
	case isHidden(r):
		return -1
	}
	return r
}

// isHidden reports whether r shows nothing: where a word may break, what joins
// letters or keeps them apart, and which way to read.
func isHidden(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0xAD, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2069, r == 0xFEFF:
		return true
	}
	return r >= 0xFE00 && r <= 0xFE0F // which picture of the character before
}

// isWide reports whether r is a Latin letter or digit as wide as a Chinese
// character, or a Japanese letter half as wide.
func isWide(r rune) bool { return r >= 0xFF01 && r <= 0xFFDC }

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }
