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

// A tokenKind is the purpose of a token.
type tokenKind rune

// The marks are the letters after those of code.
const (
	anyStem     tokenKind = 0 // a stem of the item
	titleStem   tokenKind = 's'
	authorStem  tokenKind = 't'
	pair        tokenKind = 'u' // two neighbouring words
	titlePair   tokenKind = 'w'
	authorPair  tokenKind = 'x'
	everyItem   tokenKind = 'v'
	shortened   tokenKind = 'z'
	maxToken              = 200 // bytes; Meilisearch accepts 250
	keptOfToken           = 100 // kept bytes of a longer token
)

// everyToken is a token of every document. Searches without words use it where their scores must be
// comparable.
var everyToken = string([]rune{'q', 'q', rune(everyItem)})

// A script is letters that Meilisearch does not split from one another.
type script struct{ first, last, escape rune }

var (
	latin    = script{'a', 'z', 'q'}
	cyrillic = script{'а', 'я', 'ъ'}
)

func (s script) has(r rune) bool { return r >= s.first && r <= s.last }

// scriptOf returns the script of a stem's first letter, so that a prefix has the script of the whole word.
func scriptOf(stem string) script {
	if first, _ := utf8.DecodeRuneInString(stem); cyrillic.has(first) {
		return cyrillic
	}
	return latin
}

// tokenOf returns the token of a stem. Very long stems differ only by a hash.
func tokenOf(m tokenKind, stem string) string {
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

// code encodes n as letters, four bits each, the lowest first.
func (s script) code(b *strings.Builder, n uint64, letters int) {
	for range letters {
		b.WriteRune(s.first + rune(n&15))
		n >>= 4
	}
}

// hash returns a hash that separates stems with an equal beginning.
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
func tokensOf(m tokenKind, stems []string) []string {
	tokens := make([]string, len(stems))
	for i, s := range stems {
		tokens[i] = tokenOf(m, s)
	}
	return tokens
}

// pairsOf returns a token for each two neighbouring words. A phrase matches a text that contains all of its
// pairs, which is nearly exact: "a b c" also matches where "a b" and "b c" are apart.
//
// A token represents all pairs with its hash, of 26^3 values. Fewer values mean less to write per item; but
// of items of 220 words with both words, not in a row, 1 in 80 matches too.
//
// Meilisearch's own phrases need the distances between words, which more than double the indexing time of an
// item; pairs add a third.
func pairsOf(m tokenKind, words []query.Word) []string {
	var tokens []string
	for i := 1; i < len(words); i++ {
		tokens = append(tokens, pairOf(m, words[i-1], words[i]))
	}
	return tokens
}

func pairOf(m tokenKind, a, b query.Word) string {
	n := hashOf(a.Stem, string(rune('0'+min(b.Pos-a.Pos, 9))), b.Stem) % (26 * 26 * 26)
	token := []rune{latin.escape, latin.escape, rune(m)}
	for range 3 {
		token = append(token, latin.first+rune(n%26))
		n /= 26
	}
	return string(token)
}

// isStem reports whether a token is a stem at any position.
func isStem(token string) bool {
	s := scriptOf(token)
	marked, is := strings.CutPrefix(token, string([]rune{s.escape, s.escape}))
	first, _ := utf8.DecodeRuneInString(marked)
	return !is || first < s.first+16 // of a code
}
