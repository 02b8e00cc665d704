// Package stem splits a text into words and returns their stems ([Words]), so that words that differ in their
// endings match one another. Stems are kept in bounded caches that all callers share. The package is
// independent of feeds, queues and storage.
package stem

import "strings"

// A Word is the stem of a word of a text and its position: the number of words before it, stop words
// included, so that phrases keep their distances.
type Word struct {
	Stem string
	Pos  int
}

// Words returns the stems of the words of a plain text in order, without stop words, URLs and mail addresses;
// nil if there are none. lang is ISO 639-1. Words in letters that lang is not written in, and those of a
// language without a stemmer, are stemmed as described at [Of]. For scripts without spaces between words
// (Chinese, Japanese, Thai) and for Korean it returns a stem for each pair of neighboring characters.
// O(len(text)).
func Words(text, lang string) []Word {
	l := languageOf(lang)
	var list []Word
	pos := 0
	for t := range tokens(text, l.elided) {
		if t.kind == addressed {
			continue
		}
		if stem := l.stemOf(t); stem != "" {
			if list == nil {
				list = make([]Word, 0, len(text)/8+1)
			}
			list = append(list, Word{stem, pos})
		}
		pos++
	}
	return list
}

// Stems returns the stems of [Words] without positions.
func Stems(text, lang string) []string {
	words := Words(text, lang)
	if words == nil {
		return nil
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Stem
	}
	return list
}

// CountWords returns the number of words in a text, stop words included.
func CountWords(text, lang string) int {
	n := 0
	for t := range tokens(text, languageOf(lang).elided) {
		if t.kind != addressed {
			n++
		}
	}
	return n
}

// Of returns the Snowball stem of a lower-case word without a possessive 's. If lang has no stemmer, the
// word's script decides: Cyrillic words are stemmed as Russian and Latin words as English, so that a text and
// a search for it agree even if the language is unknown. Words with a digit or a sign ("ipv6", "c++") are
// names and stay unchanged.
//
// Source: M. Porter, Snowball: a language for stemming algorithms, 2001.
func Of(word, lang string) string {
	return languageOf(lang).stem(word)
}

// stemOf returns the stem of a token that is not an address, or "" for a stop word or an elided word.
func (l *language) stemOf(t token) string {
	switch {
	case t.kind == elided:
		return ""
	case t.kind == exact:
		if word := fold(t.text); !l.isStop(word) {
			return word
		}
		return ""
	case len(t.text) > maxStemmed || isName(t.text): // too many different words to cache
		return l.stemWritten(t.text)
	}
	return l.cache.get(t.text, l.stemWritten)
}

// stemWritten returns the stem of a word as written, or "" for a stop word.
func (l *language) stemWritten(written string) string {
	word := fold(written)
	if l.isStop(word) {
		return ""
	}
	return l.stem(word)
}

func (l *language) stem(word string) string {
	word = strings.TrimSuffix(word, "'s")
	if isName(word) {
		return word
	}
	switch scriptOf(word) {
	case cyrillic:
		return l.cyrillic.stem(word)
	case latin:
		return l.latin.stem(word)
	}
	return word
}

// isName reports whether a word contains a digit or a sign.
func isName(word string) bool {
	for i := range len(word) {
		if c := word[i]; c < 'A' || c > 'Z' && c < 'a' || c > 'z' && c < 0x80 {
			return true
		}
	}
	return false
}
