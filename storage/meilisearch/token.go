package meilisearch

import (
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"feedmesh/classify/query"
)

// Meilisearch makes words of a text in its own way: it would split "c++" and
// "node.js", fold accents, and know no stems. So what we search by are tokens, of
// letters only, which it takes for one word each and does not change. As no text
// has them, they are never taken for what people search in the dashboard.
//
// A token is an escape letter, what it is for, and the letters of a stem. All but
// plain letters are escaped, one by one, so that the token of a word's beginning
// is the beginning of the word's token.

// A mark says what a token is for.
type mark rune

// The marks. They follow the letters that code has.
const (
	anyStem     mark = 0 // a stem of the item
	titleStem   mark = 's'
	authorStem  mark = 't'
	pair        mark = 'u' // two words, one after the other
	titlePair   mark = 'w'
	authorPair  mark = 'x'
	everyItem   mark = 'v'
	shortened   mark = 'z'
	maxToken         = 200 // bytes; Meilisearch takes 250
	keptOfToken      = 100 // bytes of one that is longer
)

// everyToken is one that every document has: what does not ask for words asks for
// it where it must have a score like what does.
var everyToken = string([]rune{'q', 'q', rune(everyItem)})

// A script is letters that Meilisearch does not split from one another.
type script struct{ first, last, escape rune }

var (
	latin    = script{'a', 'z', 'q'}
	cyrillic = script{'а', 'я', 'ъ'}
)

func (s script) has(r rune) bool { return r >= s.first && r <= s.last }

// scriptOf returns that of a stem's first letter, so that a beginning has the same
// as the whole.
func scriptOf(stem string) script {
	if first, _ := utf8.DecodeRuneInString(stem); cyrillic.has(first) {
		return cyrillic
	}
	return latin
}

// tokenOf returns the token of a stem. Very long ones differ only by a hash.
func tokenOf(m mark, stem string) string {
	var b strings.Builder
	s := scriptOf(stem)
	b.WriteRune(s.escape)
	if m != anyStem {
		b.WriteRune(s.escape)
		b.WriteRune(s.first + rune(m) - latin.first)
	}
	kept := ""
	for _, r := range stem {
		if s.has(r) && r != s.escape {
			b.WriteRune(r)
		} else {
			b.WriteRune(s.escape)
			s.code(&b, uint64(r), 6)
		}
		if b.Len() <= keptOfToken {
			kept = b.String()
		}
		if b.Len() > maxToken {
			return kept + s.hash(stem)
		}
	}
	return b.String()
}

// code writes the lowest four bits of n, and so on, as so many letters.
func (s script) code(b *strings.Builder, n uint64, letters int) {
	for range letters {
		b.WriteRune(s.first + rune(n&15))
		n >>= 4
	}
}

// hash returns what tells a stem from others that begin alike.
func (s script) hash(stem string) string {
	var b strings.Builder
	b.WriteRune(s.escape)
	b.WriteRune(s.first + rune(shortened) - latin.first)
	s.code(&b, hashOf(stem), 16)
	return b.String()
}

func hashOf(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// tokensOf returns the tokens of stems, in order.
func tokensOf(m mark, stems []string) []string {
	tokens := make([]string, len(stems))
	for i, s := range stems {
		tokens[i] = tokenOf(m, s)
	}
	return tokens
}

// pairsOf returns a token for each two neighbours among the words: those of a
// phrase stand in a row, in one text, where all of its pairs do, or nearly so: "a b
// c" is also found where "a b" and "b c" are apart.
//
// A token stands for all pairs with its hash, of which there are 26^3. The fewer,
// the less Meilisearch has to write for an item; but of items of 220 words that
// have both words, though not in a row, 1 in 80 is found, too.
//
// Meilisearch's own phrases need the distances between words, with which an item
// takes it more than twice as long; with pairs it takes a third longer.
func pairsOf(m mark, words []query.Word) []string {
	var tokens []string
	for i := 1; i < len(words); i++ {
		tokens = append(tokens, pairOf(m, words[i-1], words[i]))
	}
	return tokens
}

func pairOf(m mark, a, b query.Word) string {
	n := hashOf(a.Stem, string(rune('0'+min(b.Pos-a.Pos, 9))), b.Stem) % (26 * 26 * 26)
	token := []rune{latin.escape, latin.escape, rune(m)}
	for range 3 {
		token = append(token, latin.first+rune(n%26))
		n /= 26
	}
	return string(token)
}

// marksOf returns the marks of the stems and pairs of a part.
func marksOf(in query.Part) (stem, pairs mark) {
	switch in {
	case query.Title:
		return titleStem, titlePair
	case query.Author:
		return authorStem, authorPair
	}
	return anyStem, pair
}

// isStem reports whether a token is of a stem that may stand anywhere.
func isStem(token string) bool {
	s := scriptOf(token)
	marked, is := strings.CutPrefix(token, string([]rune{s.escape, s.escape}))
	first, _ := utf8.DecodeRuneInString(marked)
	return !is || first < s.first+16 // of a code
}
