package stem

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// cacheSlots bounds the words of a cache, about 2 MB. A text has few words that the texts before it lack,
	// and its rare words are needed again when other components stem the same text.
	cacheSlots = 1 << 15

	// maxStemmed is the length in bytes above which a token is not stemmed.
	maxStemmed = 100
)

// A stemmer is a stemming function with a cache of its results: stemming takes much longer than all other
// work on a word.
type stemmer struct {
	find  func(word string) string
	cache cache
}

func (s *stemmer) stem(word string) string {
	if len(word) > maxStemmed {
		return word
	}
	return s.cache.get(word, s.find)
}

// A cache maps words to stems. Each word hashes to two slots, and a new word replaces the least recently used
// of the two. Access is lock-free. The zero value is empty and ready for use.
type cache struct {
	once  sync.Once
	slots []atomic.Pointer[cacheEntry]
}

type cacheEntry struct{ word, stem string }

var seed = maphash.MakeSeed()

// get returns the cached stem of a word, or calls find and caches the result.
func (c *cache) get(word string, find func(string) string) string {
	c.once.Do(func() { c.slots = make([]atomic.Pointer[cacheEntry], cacheSlots) })
	at := maphash.String(seed, word) % (cacheSlots / 2) * 2
	newer, elder := &c.slots[at], &c.slots[at+1]
	if f := newer.Load(); f != nil && f.word == word {
		return f.stem
	}
	if f := elder.Load(); f != nil && f.word == word {
		elder.Store(newer.Swap(f)) // so that a frequent word outlasts rare ones
		return f.stem
	}
	word = strings.Clone(word) // the word may be part of an item's text, which the cache must not keep in memory
	f := &cacheEntry{word, find(word)}
	elder.Store(newer.Swap(f))
	return f.stem
}
