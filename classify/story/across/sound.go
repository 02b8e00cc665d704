package across

import (
	"strings"
	"unicode/utf8"
)

// leastSound is the number of letters of a phonetic key below which many words share it.
const leastSound = 3

// soundOf returns the phonetic key of a word, coarse enough that a name has the same key in Latin and in Cyrillic
// letters: its consonants in classes, without doubles, and whether it begins with a vowel. It is empty for short keys
// and for words with digits.
func soundOf(word string) string {
	if hasDigit(word) {
		return ""
	}
	if isCyrillic(word) {
		word = toLatin(word)
	}
	key := consonants(digraphs.Replace(word))
	if utf8.RuneCountInString(strings.TrimPrefix(key, "A")) < leastSound {
		return ""
	}
	return key
}

// digraphs replaces letters of English and of transliterations that are one sound.
var digraphs = strings.NewReplacer(
	"tch", "C", "sch", "S", "shch", "S", "dzh", "j", "dge", "j", "sh", "S", "ch", "C", "zh", "j", "kh", "h", "ph", "f", "th", "t", "ck", "k",
	"ts", "s", "tz", "s", "ce", "se", "ci", "si", "cy", "si", "qu", "kv", "q", "k", "x", "ks", "ge", "ge", "wh", "v", "w", "v", "z", "s", "c", "k",
)

// consonants drops vowels but the first, and doubles.
func consonants(s string) string {
	var b strings.Builder
	last := rune(0)
	for i, r := range s {
		switch {
		case strings.ContainsRune("aeiouy", r):
			if i == 0 {
				b.WriteByte('A')
			}
			last = 0
			continue
		case r == '\'' || r == '’' || r == '-' || r == '.' || r == last:
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// toLatin transliterates a Russian word in lower case.
func toLatin(word string) string {
	var b strings.Builder
	for _, r := range word {
		if s, ok := latin[r]; ok {
			b.WriteString(s)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

var latin = map[rune]string{
	'а': "a", 'б': "b", 'в': "v", 'г': "g", 'д': "d", 'е': "e", 'ж': "zh", 'з': "z", 'и': "i", 'й': "y", 'к': "k", 'л': "l", 'м': "m",
	'н': "n", 'о': "o", 'п': "p", 'р': "r", 'с': "s", 'т': "t", 'у': "u", 'ф': "f", 'х': "kh", 'ц': "ts", 'ч': "ch", 'ш': "sh", 'щ': "shch",
	'ъ': "", 'ы': "y", 'ь': "", 'э': "e", 'ю': "yu", 'я': "ya",
}

// toCyrillic guesses the Russian spelling of a name in Latin letters.
func toCyrillic(word string) string { return cyrillic.Replace(word) }

var cyrillic = strings.NewReplacer(
	"shch", "щ", "sh", "ш", "ch", "ч", "zh", "ж", "kh", "х", "ph", "ф", "th", "т", "ck", "к", "ts", "ц", "oo", "у", "ee", "и", "ya", "я", "yu", "ю", "j", "дж",
	"qu", "кв", "x", "кс", "a", "а", "b", "б", "c", "к", "d", "д", "e", "е", "f", "ф", "g", "г", "h", "х", "i", "и", "k", "к", "l", "л", "m", "м", "n", "н",
	"o", "о", "p", "п", "q", "к", "r", "р", "s", "с", "t", "т", "u", "у", "v", "в", "w", "в", "y", "и", "z", "з",
)
