package spam

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// inspectToken examines a token with unusual characters.
func (l *textStyle) inspectToken(s string, f features, x *index) {
	letters := f.latin + f.cyrillic
	if f.currency > 0 && f.digits >= 2 && letters <= 3 && l.amount == "" {
		l.amount = s
	}
	if f.currency > 0 && f.digits > 0 && l.tariff == "" && isTariff(s) {
		l.tariff = s
	}
	if letters < 3 || len(s) > 40 || strings.Contains(s, "://") {
		return
	}
	trimmed := strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if f.hidden > 0 && strings.ContainsFunc(trimmed, isHidden) {
		l.hidden++
		l.checkDisguise(s, strings.Map(dropHidden, trimmed), x)
	}
	if f.latin > 0 && f.cyrillic > 0 {
		for part := range strings.FieldsFuncSeq(trimmed, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if plain := toOneScript(part); plain != "" {
				l.mixed++
				l.checkDisguise(s, plain, x)
			}
		}
	}
	if 2*f.separators >= letters { // v.i.a.g.r.a
		trimmed = separators.Replace(trimmed)
		l.checkDisguise(s, trimmed, x)
	}
	if f.digits+f.signs+f.exclamations > 0 && letters >= f.digits {
		for _, table := range letterForms {
			l.checkDisguise(s, table.Replace(trimmed), x)
		}
	}
}

// checkDisguise records a token that reads as a listed word once it is normalized to word.
func (l *textStyle) checkDisguise(s, word string, x *index) {
	word = strings.ToLower(word)
	if word == strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })) || len(l.disguised) >= 8 {
		return
	}
	if x.disguisable[stem.Of(word, "")] && !slices.Contains(l.disguised, word) {
		l.disguised = append(l.disguised, s, word)
	}
}

// dropHidden is a mapping function that drops invisible characters.
func dropHidden(r rune) rune {
	if isHidden(r) {
		return -1
	}
	return r
}

// separators may stand between the letters of a disguised word.
var separators = strings.NewReplacer(".", "", "*", "", "_", "", "-", "")

// letterForms replace digits and signs by the letters they resemble; 1 is an i or an l.
var letterForms = [2]*strings.Replacer{
	strings.NewReplacer("0", "o", "1", "i", "!", "i", "3", "e", "4", "a", "@", "a", "5", "s", "$", "s", "7", "t", "|", "l"),
	strings.NewReplacer("0", "o", "1", "l", "!", "l", "3", "e", "4", "a", "@", "a", "5", "s", "$", "s", "7", "t", "|", "i"),
}

// toLatin and toCyrillic map lookalike letters.
var toLatin, toCyrillic = func() (latin, cyrillic map[rune]rune) {
	latin, cyrillic = make(map[rune]rune), make(map[rune]rune)
	from, to := []rune("асеорхуікАВЕКМНОРСТХІ"), []rune("aceopxyikABEKMHOPCTXI")
	for i := range from {
		latin[from[i]], cyrillic[to[i]] = to[i], from[i]
	}
	return latin, cyrillic
}()

// toOneScript converts a word of mixed Latin and Cyrillic letters to one script if every letter of the other
// script has a lookalike; otherwise it returns "". SQLщик is not converted.
func toOneScript(word string) string {
	for _, table := range []map[rune]rune{toLatin, toCyrillic} {
		plain := strings.Map(func(r rune) rune { return lookalike(r, table) }, word)
		if plain != word && utf8.RuneCountInString(plain) == utf8.RuneCountInString(word) {
			return plain
		}
	}
	return ""
}

// lookalike returns r in the target script of the table, or -1 if it has no lookalike there.
func lookalike(r rune, table map[rune]rune) rune {
	if to, ok := table[r]; ok {
		return to
	}
	if isCyrillic := r >= 'Ѐ' && r <= 'ԯ'; isCyrillic == (table['a'] != 0) {
		return r
	}
	return -1
}
