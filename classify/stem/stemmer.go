package stem

import (
	"strings"
	"sync"
)

const (
	// maxKnown bounds what a stemmer remembers, to some 3 MB. Almost all words of
	// almost all texts are among the first it sees; it does not matter which of
	// the rare ones are.
	maxKnown = 30_000

	// maxStemmed is the length of a word, in bytes, above which it is no word.
	maxStemmed = 100
)

// A stemmer is a language's stemming and the stems it found: to find one takes
// as long as all else that is done to a word.
type stemmer struct {
	find func(word string) string

	mu    sync.RWMutex
	known map[string]string
}

func (s *stemmer) stem(word string) string {
	if len(word) > maxStemmed {
		return word
	}
	s.mu.RLock()
	stem, ok := s.known[word]
	s.mu.RUnlock()
	if ok {
		return stem
	}
	word = strings.Clone(word) // it may be a part of an item's text, which must not stay in memory
	stem = s.find(word)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = make(map[string]string)
	}
	if len(s.known) < maxKnown {
		s.known[word] = stem
	}
	return stem
}
