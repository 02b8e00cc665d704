// Package classify turns words into labels: language, stems, spam, categories
// and topics, each with its reason. It knows nothing of feeds, queues or
// storage, and ships the rules it decides by.
package classify

import (
	"strings"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
)

// Stem returns the Snowball stem of a word in lower case. language is ISO
// 639-1; where we have no stemmer for it the word's script decides: Cyrillic
// words are stemmed as Russian, all others as English, so that a text and a
// search for it agree even if nobody knows the language. Words with a digit or
// a sign in them ("ipv6", "c++") are names and stay as they are.
//
// Source: M. Porter, Snowball: a language for stemming algorithms, 2001.
func Stem(word, language string) string {
	if strings.ContainsAny(word, "0123456789+#.'") {
		return strings.TrimSuffix(word, "'s")
	}
	if r, _ := utf8.DecodeRuneInString(word); r >= 'Ѐ' && r <= 'ӿ' {
		return russian.Stem(word, true)
	}
	switch language {
	case "fr":
		return french.Stem(word, true)
	case "es":
		return spanish.Stem(word, true)
	default:
		return english.Stem(word, true)
	}
}
