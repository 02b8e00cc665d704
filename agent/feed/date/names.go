package date

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A meaning is what a word can mean in a date.
type meaning struct {
	key     string
	month   int // 1 to 12, 0 for none, differs if languages disagree
	weekday int // 1 for Sunday to 7, likewise
	half    half
	zone    *zone
	filler  bool // means nothing
}

const differs = -1

// names returns the meanings of all words, each under its two spellings, and of
// those on which languages disagree the month by language, as "hr listopad".
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
	each(months, 12, func(lang, word string, month int) {
		change(word, func(m *meaning) { m.month = agree(m.month, month) })
		for _, key := range spellings(word) {
			byLang[lang+" "+key] = month
		}
	})
	each(weekdays, 7, func(_, word string, day int) {
		change(word, func(m *meaning) { m.weekday = agree(m.weekday, day) })
	})
	for name, z := range zones {
		change(name, func(m *meaning) { m.zone = &z })
	}
	for _, name := range strings.Fields(uncertain) {
		change(name, func(m *meaning) { m.zone = &zone{rule: ambiguous} })
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

// agree returns what both numbers are, where 0 agrees with all.
func agree(a, b int) int {
	if a == 0 || a == b {
		return b
	}
	return differs
}

// each calls f with all words of a table and their numbers from 1 to n.
func each(table []struct{ lang, names string }, n int, f func(lang, word string, number int)) {
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

// meaningOf returns what a word can mean.
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
	return &unknown
}

// unknown is the meaning of words that have none. Nobody writes to it.
var unknown meaning

// monthIn returns the month that a word means in a language, or in all that
// know it, or 0.
func (m *meaning) monthIn(lang string) int {
	if m.month != differs {
		return m.month
	}
	_, byLang := names()
	return byLang[lang+" "+m.key]
}

// maxSpelled is how long a word with a meaning may be, in bytes.
const maxSpelled = 64

// spellings returns how a word is looked for: in lower case, and without marks.
func spellings(word string) []string {
	lower := appendLower(nil, word)
	bare := appendBare(nil, lower)
	if string(lower) == string(bare) {
		return []string{string(lower)}
	}
	return []string{string(lower), string(bare)}
}

// appendLower appends a word in lower case and without points.
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

// appendBare appends a word in lower case without the marks that languages put
// on letters of Latin, Greek and Cyrillic script.
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
