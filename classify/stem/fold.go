package stem

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns the form in which words are compared: lower case, composed, ё as е, without hidden
// characters. Almost all words need lower-casing only.
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

// folded returns the character that r is compared as, or -1 to drop it.
func folded(r rune) rune {
	switch {
	case r == 'ё':
		return 'е'
	case r == 'ς':
		return 'σ'
	case isApostrophe(r):
		return '\''
	case r == '\u2010' || r == '\u2011': // hyphens
		return '-'
	case r == '\u0301' || r == '\u0300': // accents that did not compose: stress marks of Russian words
		return -1
	case r == '\u0307': // from lower-casing Turkish İ
		return -1
	case isHidden(r):
		return -1
	}
	return r
}

// isHidden reports whether r is invisible: soft breaks, joiners and direction marks.
func isHidden(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0xAD, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2069, r == 0xFEFF:
		return true
	}
	return r >= 0xFE00 && r <= 0xFE0F // variation selectors
}

// isWide reports whether r is a full-width Latin letter or digit, or a half-width Japanese letter.
func isWide(r rune) bool { return r >= 0xFF01 && r <= 0xFFDC }

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }
