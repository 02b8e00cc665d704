// Package stem turns a text into the stems of its words, so that words that
// differ in their endings only can be found by one another. It knows nothing of
// feeds, queues or storage.
package stem

import "strings"

// A Word is the stem of a word of a text, and how many words stand before it,
// stop words among them, so that runs of words keep their distances.
type Word struct {
	Stem string
	Pos  int
}

// Words returns the stems of the words of a plain text, in order of appearance,
// without stop words, addresses of pages and mailboxes; nil if there are none.
// lang is ISO 639-1; words in letters that lang is not written in, and those of
// a language without a stemmer, are stemmed as [Of] says. Where words are not set
// apart by spaces (Chinese, Japanese, Thai), and in Korean, there is one stem
// for each two neighbouring characters. O(len(text)).
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

// List returns the stems of [Words] alone.
func List(text, lang string) []string {
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

// Count returns how many words a text has, stop words among them.
func Count(text, lang string) int {
	n := 0
	for t := range tokens(text, languageOf(lang).elided) {
		if t.kind != addressed {
			n++
		}
	}
	return n
}

// Addresses returns the addresses of pages and mailboxes that [Words] leaves
// out, in order; nil if there are none.
func Addresses(text string) []string {
	if !strings.Contains(text, "@") && !strings.Contains(text, ":") && !strings.Contains(text, "www.") {
		return nil // as most do, and to look is quick
	}
	var list []string
	for t := range tokens(text, nil) {
		if t.kind == addressed {
			list = append(list, t.text)
		}
	}
	return list
}

// Of returns the Snowball stem of a word in small letters, without a possessive
// 's. Where lang has no stemmer the word's script decides: Cyrillic words are
// stemmed as Russian and Latin ones as English, so that a text and a search for
// it agree even if nobody knows the language. Words with a digit or a sign in
// them ("ipv6", "c++") are names and stay as they are.
//
// Source: M. Porter, Snowball: a language for stemming algorithms, 2001.
func Of(word, lang string) string {
	return languageOf(lang).stem(word)
}

// stemOf returns the stem of a token that is no address, or nothing if it is a
// stop word or merged with the next one.
func (l *language) stemOf(t token) string {
	switch {
	case t.kind == elided:
		return ""
	case t.kind == exact:
		if word := fold(t.text); !l.isStop(word) {
			return word
		}
		return ""
	case len(t.text) > maxStemmed || isName(t.text): // too many to remember
		return l.read(t.text)
	}
	return l.known.get(t.text, l.read)
}

// read returns the stem of a word as it is written, or nothing if it is a stop word.
func (l *language) read(written string) string {
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

// isName reports whether a word has a digit or a sign in it.
func isName(word string) bool {
	for i := range len(word) {
		if c := word[i]; c < 'A' || c > 'Z' && c < 'a' || c > 'z' && c < 0x80 {
			return true
		}
	}
	return false
}
