package date

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A meaning lists the possible meanings of a word in a date.
type meaning struct {
	key     string
	month   int // 1 to 12, 0 for none, languagesDiffer if languages disagree
	weekday int // 1 for Sunday to 7, likewise
	half    dayHalf
	zone    *zone
	filler  bool // the word has no effect
}

const languagesDiffer = -1

// names returns the meanings of all words, each under its spellings, and the months by language, as "hr
// listopad", for words on which languages disagree. The maps are built at the first call, cached, and
// read-only.
var names = sync.OnceValues(func() (map[string]*meaning, map[string]int) {
	all, byLang := make(map[string]*meaning), make(map[string]int)
	change := func(word string, f func(*meaning)) {
		for _, key := range spellings(word) {
			if all[key] == nil {
				all[key] = new(meaning)
			}
			f(all[key])
			all[key].key = key
		}
	}
	forEachName(months, 12, func(lang, word string, month int) {
		change(word, func(m *meaning) { m.month = mergeMeaning(m.month, month) })
		for _, key := range spellings(word) {
			byLang[lang+" "+key] = month
		}
	})
	forEachName(weekdays, 7, func(_, word string, day int) {
		change(word, func(m *meaning) { m.weekday = mergeMeaning(m.weekday, day) })
	})
	for name, z := range zones {
		change(name, func(m *meaning) { m.zone = &z })
	}
	for _, name := range strings.Fields(ambiguousZones) {
		change(name, func(m *meaning) { m.zone = &zone{rule: ruleAmbiguous} })
	}
	for _, word := range strings.Fields(fillers) {
		change(word, func(m *meaning) { m.filler = true })
	}
	for half, words := range halves {
		for _, word := range strings.Fields(words) {
			change(word, func(m *meaning) { m.half = half })
		}
	}
	return all, byLang
})

// mergeMeaning returns the number on which a and b agree, where 0 agrees with any, or languagesDiffer.
func mergeMeaning(a, b int) int {
	if a == 0 || a == b {
		return b
	}
	return languagesDiffer
}

// forEachName calls f with all words of a table and their numbers from 1 to n.
func forEachName(table []struct{ lang, names string }, n int, f func(lang, word string, number int)) {
	for _, row := range table {
		groups := strings.Split(row.names, ",")
		if len(groups) != n {
			panic(fmt.Sprintf("date: %d names in %q", len(groups), row.lang))
		}
		for i, group := range groups {
			for _, word := range strings.Fields(group) {
				f(row.lang, word, i+1)
			}
		}
	}
}

// meaningOf returns the possible meanings of a word. Its lookup keys are built in buffers on the stack.
func meaningOf(word string) *meaning {
	all, _ := names()
	var lower, bare [maxSpelled]byte
	key := appendLower(lower[:0], word)
	if m := all[string(key)]; m != nil {
		return m
	}
	if !isASCII(word) {
		if m := all[string(appendBare(bare[:0], key))]; m != nil {
			return m
		}
	}
	return &noMeaning
}

// noMeaning is the meaning of unlisted words. It is read-only.
var noMeaning meaning

// monthIn returns the month that a word means in a language, or in all languages that use it, or 0.
func (m *meaning) monthIn(lang string) int {
	if m.month != languagesDiffer {
		return m.month
	}
	_, byLang := names()
	return byLang[lang+" "+m.key]
}

// maxSpelled is the size of a lookup key's buffer, in bytes. Longer keys are allocated; no word with a
// meaning is longer.
const maxSpelled = 64

// spellings returns the lookup keys of a word: in lower case, and without diacritics.
func spellings(word string) []string {
	lower := appendLower(nil, word)
	bare := appendBare(nil, lower)
	if string(lower) == string(bare) {
		return []string{string(lower)}
	}
	return []string{string(lower), string(bare)}
}

// appendLower appends a word in lower case without points.
func appendLower(to []byte, word string) []byte {
	for _, r := range word {
		switch {
		case r == '.' || r == '\u0970': // the latter in Devanagari
		case 'A' <= r && r <= 'Z':
			to = append(to, byte(r)+'a'-'A')
		case r < utf8.RuneSelf:
			to = append(to, byte(r))
		default:
			to = utf8.AppendRune(to, unicode.ToLower(r))
		}
	}
	return to
}

// appendBare appends a lower-case word without the diacritics of Latin, Greek and Cyrillic letters.
func appendBare(to, lower []byte) []byte {
	for _, r := range norm.NFD.String(string(lower)) {
		switch {
		case '\u0300' <= r && r <= '\u036F':
		case r == 'ı':
			to = append(to, 'i')
		case r == 'ø':
			to = append(to, 'o')
		case r == 'ł':
			to = append(to, 'l')
		case r == 'ς': // at the end of a word
			to = append(to, "σ"...)
		default:
			to = utf8.AppendRune(to, r)
		}
	}
	return to
}
