package spam

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

// stretch looks closer at what is odd.
func (l *look) stretch(s string, f features, x *index) {
	letters := f.latin + f.cyrillic
	if f.currency > 0 && f.digits >= 2 && letters <= 3 && l.amount == "" {
		l.amount = s
	}
	if letters < 3 || len(s) > 40 || strings.Contains(s, "://") {
		return
	}
	trimmed := strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if f.hidden > 0 && strings.ContainsFunc(trimmed, isUnseen) {
		l.hidden++
		l.disguise(s, strings.Map(seen, trimmed), x)
	}
	if f.latin > 0 && f.cyrillic > 0 {
		for part := range strings.FieldsFuncSeq(trimmed, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if plain := oneScript(part); plain != "" {
				l.mixed++
				l.disguise(s, plain, x)
			}
		}
	}
	if 2*f.separators >= letters { // v.i.a.g.r.a
		trimmed = separators.Replace(trimmed)
		l.disguise(s, trimmed, x)
	}
	if f.digits+f.signs+f.exclamations > 0 && letters >= f.digits {
		for _, table := range letterForms {
			l.disguise(s, table.Replace(trimmed), x)
		}
	}
}

// disguise notes a stretch that is a bad word once it is read as word.
func (l *look) disguise(s, word string, x *index) {
	word = strings.ToLower(word)
	if word == strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })) || len(l.disguised) >= 8 {
		return
	}
	if x.veiled[stem.Of(word, "")] && !containsWord(l.disguised, word) {
		l.disguised = append(l.disguised, s, word)
	}
}

func containsWord(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// seen drops what nobody sees.
func seen(r rune) rune {
	if isUnseen(r) {
		return -1
	}
	return r
}

// separators may stand between the letters of a word.
var separators = strings.NewReplacer(".", "", "*", "", "_", "", "-", "")

// letterForms read digits and signs as the letters they look like; 1 is an i or
// an l.
var letterForms = [2]*strings.Replacer{
	strings.NewReplacer("0", "o", "1", "i", "!", "i", "3", "e", "4", "a", "@", "a", "5", "s", "$", "s", "7", "t", "|", "l"),
	strings.NewReplacer("0", "o", "1", "l", "!", "l", "3", "e", "4", "a", "@", "a", "5", "s", "$", "s", "7", "t", "|", "i"),
}

// toLatin and toCyrillic have the letters that look alike.
var toLatin, toCyrillic = func() (latin, cyrillic map[rune]rune) {
	latin, cyrillic = make(map[rune]rune), make(map[rune]rune)
	from, to := []rune("асеорхуікАВЕКМНОРСТХІ"), []rune("aceopxyikABEKMHOPCTXI")
	for i := range from {
		latin[from[i]], cyrillic[to[i]] = to[i], from[i]
	}
	return latin, cyrillic
}()

// oneScript returns a word of two scripts in one of them, if each letter of the
// other looks like one of it; else "". SQLщик stays as it is.
func oneScript(word string) string {
	for _, table := range []map[rune]rune{toLatin, toCyrillic} {
		plain := strings.Map(func(r rune) rune { return alike(r, table) }, word)
		if plain != word && utf8.RuneCountInString(plain) == utf8.RuneCountInString(word) {
			return plain
		}
	}
	return ""
}

// alike returns r in the script that table leads to, or -1 if there is none like
// it.
func alike(r rune, table map[rune]rune) rune {
	if to, ok := table[r]; ok {
		return to
	}
	if isCyrillic := r >= 'Ѐ' && r <= 'ԯ'; isCyrillic == (table['a'] != 0) {
		return r
	}
	return -1
}
