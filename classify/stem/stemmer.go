package stem

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// slots is how many words a cache remembers at most, in some 2 MB. A text has
	// few that the texts before it have not, and its own rare ones come again
	// when the next who asks stems it.
	slots = 1 << 15

	// maxStemmed is the length of a word, in bytes, above which it is no word.
	maxStemmed = 100
)

// A stemmer is a language's stemming and the stems it found: to find one takes
// far longer than all else that is done to a word.
type stemmer struct {
	find  func(word string) string
	known cache
}

func (s *stemmer) stem(word string) string {
	if len(word) > maxStemmed {
		return word
	}
	return s.known.get(word, s.find)
}

// A cache remembers what was last found for words. Each word has two places, and
// a new one takes that of the one not asked for longest; nobody waits for anybody. The zero value is
// empty and ready to use.
type cache struct {
	once  sync.Once
	slots []atomic.Pointer[found]
}

type found struct{ word, stem string }

var seed = maphash.MakeSeed()

// get returns what find says of a word, now or some time ago.
func (c *cache) get(word string, find func(string) string) string {
	c.once.Do(func() { c.slots = make([]atomic.Pointer[found], slots) })
	at := maphash.String(seed, word) % (slots / 2) * 2
	newer, elder := &c.slots[at], &c.slots[at+1]
	if f := newer.Load(); f != nil && f.word == word {
		return f.stem
	}
	if f := elder.Load(); f != nil && f.word == word {
		elder.Store(newer.Swap(f)) // a common word outlives the rare ones that come between
		return f.stem
	}
	word = strings.Clone(word) // it may be a part of an item's text, which must not stay in memory
	f := &found{word, find(word)}
	elder.Store(newer.Swap(f))
	return f.stem
}
