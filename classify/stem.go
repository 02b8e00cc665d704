// Package classify turns words into labels: language, stems, spam, categories
// and topics, each with its reason. It knows nothing of feeds, queues or
// storage, and ships the rules it decides by.
package classify

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
)

// Stem returns the Snowball stem of a word in lower case, without a possessive
// 's. language is ISO 639-1; where we have no stemmer for it the word's script
// decides: Cyrillic words are stemmed as Russian, all others as English, so that
// a text and a search for it agree even if nobody knows the language. Words with
// a digit or a sign in them ("ipv6", "c++") are names and stay as they are.
//
// Source: M. Porter, Snowball: a language for stemming algorithms, 2001.
func Stem(word, language string) string {
	word = strings.TrimSuffix(word, "'s")
	if strings.ContainsAny(word, "0123456789+#.'") {
		return word
	}
	switch r, _ := utf8.DecodeRuneInString(word); {
	case r >= 'Ѐ' && r <= 'ӿ':
		return known.russian.stem(word, russian.Stem)
	case language == "fr":
		return known.french.stem(word, french.Stem)
	case language == "es":
		return known.spanish.stem(word, spanish.Stem)
	}
	return known.english.stem(word, english.Stem)
}

// known remembers stems: to find one takes as long as all else that is done to
// a word.
var known struct{ english, russian, french, spanish memory }

// maxKnown bounds what a memory holds, to some 5 MB. Almost all words of almost
// all texts are among the first it sees; it does not matter which of the rare
// ones are.
const maxKnown = 50_000

// A memory is the stems of one language.
type memory struct {
	mu    sync.RWMutex
	stems map[string]string
}

func (m *memory) stem(word string, find func(word string, stopWords bool) string) string {
	m.mu.RLock()
	stem, ok := m.stems[word]
	m.mu.RUnlock()
	if ok {
		return stem
	}
	word = strings.Clone(word) // it may be a part of an item's text, which must not stay in memory
	stem = find(word, true)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stems == nil {
		m.stems = make(map[string]string)
	}
	if len(m.stems) < maxKnown {
		m.stems[word] = stem
	}
	return stem
}
