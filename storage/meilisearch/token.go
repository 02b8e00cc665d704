package meilisearch

import (
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

// tokenOf returns the token of a stem.
func tokenOf(m tokenKind, stem string) string { return string(appendToken(nil, m, stem)) }

// appendToken appends the token of a stem to b. Very long stems differ only by a hash.
func appendToken(b []byte, m tokenKind, stem string) []byte {
	start, s := len(b), scriptOf(stem)
	b = utf8.AppendRune(b, s.escape)
	if m != anyStem {
		b = utf8.AppendRune(b, s.escape)
		b = utf8.AppendRune(b, s.first+rune(m)-latin.first)
	}
	kept := start
	for _, r := range stem {
		if s.has(r) && r != s.escape {
			b = utf8.AppendRune(b, r)
		} else {
			b = s.appendCode(utf8.AppendRune(b, s.escape), uint64(r), 6)
		}
		if len(b)-start <= keptOfToken {
			kept = len(b)
		}
		if len(b)-start > maxToken {
			return s.appendHash(b[:kept], stem)
		}
	}
	return b
}

// appendCode appends n to b as letters, four bits each, the lowest first.
func (s script) appendCode(b []byte, n uint64, letters int) []byte {
	for range letters {
		b = utf8.AppendRune(b, s.first+rune(n&15))
		n >>= 4
	}
	return b
}

// appendHash appends a hash that separates stems with an equal beginning to b.
func (s script) appendHash(b []byte, stem string) []byte {
	b = utf8.AppendRune(b, s.escape)
	b = utf8.AppendRune(b, s.first+rune(shortened)-latin.first)
	return s.appendCode(b, hashOf(stem), 16)
}

// hashOf returns the FNV-1a hash of parts, each with a zero byte after it. Package hash/fnv would allocate for each of the many pairs.
func hashOf(parts ...string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * prime
		}
		h *= prime
	}
	return h
}

// appendPair appends the token of a pair to to.
func appendPair(to []byte, m tokenKind, a, b query.Word) []byte {
	n := hashOf(a.Stem, string(rune('0'+min(b.Pos-a.Pos, 9))), b.Stem) % (26 * 26 * 26)
	to = append(to, byte(latin.escape), byte(latin.escape), byte(m))
	for range 3 {
		to = append(to, byte(latin.first)+byte(n%26))
		n /= 26
	}
	return to
}

// A tokenList collects the distinct tokens of an attribute, in order. The zero value is empty.
type tokenList struct {
	text []byte          // tokens, with a space between each two
	seen map[string]bool // tokens in text
}

// next returns the text to which the next token is to be appended.
func (l *tokenList) next() []byte {
	if len(l.text) == 0 {
		return l.text
	}
	return append(l.text, ' ')
}

// add adds the token that was appended to [tokenList.next], unless the list contains it.
func (l *tokenList) add(appended []byte) {
	token := appended[len(l.text):]
	if len(l.text) > 0 {
		token = token[1:]
	}
	if l.seen[string(token)] {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.text, l.seen[string(token)] = appended, true
}

// tokens returns the tokens.
func (l *tokenList) tokens() []string { return strings.Fields(string(l.text)) }

func (l *tokenList) addStems(m tokenKind, words []query.Word) {
	for _, w := range words {
		l.add(appendToken(l.next(), m, w.Stem))
	}
}

// addPairs adds a token for each two neighbouring words. A phrase matches a text that contains all of its
// pairs, which is nearly exact: "a b c" also matches where "a b" and "b c" are apart.
//
// A token represents all pairs with its hash, of 26^3 values. Fewer values mean less to write per item; but
// of items of 220 words with both words, not in a row, 1 in 80 matches too.
//
// Meilisearch's own phrases need the distances between words, which more than double the indexing time of an
// item; pairs add a third.
func (l *tokenList) addPairs(m tokenKind, words []query.Word) {
	for i := 1; i < len(words); i++ {
		l.add(appendPair(l.next(), m, words[i-1], words[i]))
	}
}

// isStem reports whether a token is a stem at any position.
func isStem(token string) bool {
	s := scriptOf(token)
	marked, is := strings.CutPrefix(token, string([]rune{s.escape, s.escape}))
	first, _ := utf8.DecodeRuneInString(marked)
	return !is || first < s.first+16 // of a code
}
