package near

import (
	"math"
	"strings"
	"unicode/utf8"
)

// wordCounts counts the indexed titles that contain a word: 512 KB. Words with equal hashes are counted together. A
// count that reaches its maximum remains.
type wordCounts struct {
	counts []uint16 // nil before the first title
	titles int
}

// hashedWords is the number of counts, a power of two.
const hashedWords = 1 << 18

// add adds change, 1 or -1, to the count of each distinct word of a folded title.
func (c *wordCounts) add(title string, change int) {
	if c.counts == nil {
		c.counts = make([]uint16, hashedWords)
	}
	c.titles += change
	var counted [maxMatrix]uint64
	n := 0
words:
	for word := range strings.SplitSeq(title, " ") {
		h := hash(word)
		for _, other := range counted[:n] {
			if other == h {
				continue words
			}
		}
		if n == len(counted) {
			break
		}
		counted[n] = h
		n++
		if count := &c.counts[h%hashedWords]; *count < math.MaxUint16 {
			*count = uint16(int(*count) + change)
		}
	}
}

// rare reports whether few of the titles contain a word.
func (c *wordCounts) rare(word string) bool {
	return c.counts == nil || int(c.counts[hash(word)%hashedWords]) <= max(2, c.titles/2000)
}

// otherInstance reports whether two folded titles follow one pattern with another subject: "weather of Brest today" and
// "weather of Gomel today". They differ at one place, by at most three words each, and both have a rare word there that
// is no other spelling of a word of the other title. A word in several forms, or a synonym that is not rare, is no other
// subject.
func otherInstance(a, b string, rare func(word string) bool) bool {
	x, y := differingWords(a, b)
	return len(x) > 0 && len(y) > 0 && max(len(x), len(y)) <= maxSubject && hasOther(x, y, rare) && hasOther(y, x, rare)
}

const (
	// maxSubject is the maximum number of words by which titles of one pattern differ.
	maxSubject = 3
	// sameSpelling is the similarity from which on two words are spellings or forms of one word.
	sameSpelling = 0.6
)

// differingWords returns the words of two folded titles between their common first and last words.
func differingWords(a, b string) (x, y []string) {
	x, y = strings.Split(a, " "), strings.Split(b, " ")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return x, y
}

// hasOther reports whether one of the words is rare and similar to none of the others.
func hasOther(words, others []string, rare func(string) bool) bool {
	var e editor
	for _, word := range words {
		if utf8.RuneCountInString(word) < 2 || !rare(word) {
			continue
		}
		similar := false
		for _, other := range others {
			similar = similar || strings.Contains(other, word) || strings.Contains(word, other) || e.similarity([]rune(word), []rune(other), sameSpelling) > 0
		}
		if !similar {
			return true
		}
	}
	return false
}
