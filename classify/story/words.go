package story

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
)

// A kind says what a term of an item is.
type kind uint8

const (
	isWord kind = iota
	isPair      // two neighbouring stems
	isNumber
	isName // a run of capitalised words
)

// A term is what items are compared by.
type term struct {
	hash   uint64 // of its stems and kind; equal on every machine
	kind   kind
	weight float64 // how much it says of the item, before what it says in general
	word   string  // as it stands in the text, for people; empty for pairs
}

// terms returns what an item is compared by: the stems of its title and of the
// head of its text, pairs of them, numbers and names, each once, in order of
// appearance. A word of the title counts three times where there is a text. The
// result holds until the next call. O(len(title) + words read).
func (r *reader) terms(w *Weights, title, body, lang string) []term {
	r.lang, r.stop, r.list = lang, stem.Stop(lang), r.list[:0]
	clear(r.seen)
	if r.stop == nil {
		r.stop = stem.Stop("en")
	}
	title = title[:min(len(title), maxTitle)]
	count := 1.0
	if body != "" {
		count = titleCounts
	}
	r.read(title, maxWords, count, !isTitleCased(title))
	r.read(body[:min(len(body), maxBody)], w.BodyWords, 1, true)
	for i := range r.list {
		t := &r.list[i]
		t.weight = w.frequency(t.weight) * w.ofKind(t.kind)
	}
	return r.list
}

const (
	maxTitle    = 1 << 10 // bytes of a title that are read
	maxBody     = 8 << 10 // bytes of a text that are read
	maxWords    = 100     // words of a title that are read
	maxName     = 4       // words of a name; longer runs are headings
	titleCounts = 3
)

// reader collects the terms of one item after another.
type reader struct {
	lang string
	stop map[string]bool
	list []term
	seen map[uint64]int // where in list a term stands
}

// read adds the terms of the first max words of s, each counted so often.
// Capitals mean names only where names is true.
func (r *reader) read(s string, max int, count float64, names bool) {
	words := text.Words(s)
	words = words[:min(len(words), max)]
	var last uint64 // stem before this one
	var run uint64  // hash of the capitalised words before this one
	runs, from := 0, 0
	endRun := func(end int) {
		if runs > 0 && runs <= maxName {
			r.add(mix(run, uint64(isName)), isName, count, s[from:end])
		}
		run, runs = 0, 0
	}
	end := 0
	for i, w := range words {
		if r.stop[w.Text] || len(w.Text) > maxWord {
			endRun(end)
			last, end = 0, w.End
			continue
		}
		at := hash(stem.Of(w.Text, r.lang))
		k := isWord
		if first := w.Text[0]; first >= '0' && first <= '9' {
			k = isNumber
		}
		r.add(at, k, count, s[w.Start:w.End])
		if last != 0 {
			r.add(mix(last, at), isPair, count, "")
		}
		last = at
		capital, _ := utf8.DecodeRuneInString(s[w.Start:])
		between := s[end:w.Start]
		begins := i == 0 || strings.ContainsAny(between, ".!?:\n")
		if w.Start-end > 1 { // a sign stands between them
			endRun(end)
		}
		if names && unicode.IsUpper(capital) && !begins {
			if runs == 0 {
				from = w.Start
			}
			run, runs = mix(run, at), runs+1
		} else {
			endRun(end)
		}
		end = w.End
	}
	endRun(end)
}

// maxWord is the length of a word, in bytes, above which it is none.
const maxWord = 64

func (r *reader) add(hash uint64, k kind, count float64, word string) {
	if i, ok := r.seen[hash]; ok {
		r.list[i].weight += count
		return
	}
	r.seen[hash] = len(r.list)
	r.list = append(r.list, term{hash: hash, kind: k, weight: count, word: word})
}

// isTitleCased reports whether most words of a title begin with a capital, as
// is the custom of some, so that capitals do not tell names.
func isTitleCased(title string) bool {
	words, capitals := 0, 0
	for _, w := range text.Words(title) {
		if w.End-w.Start < 4 {
			continue // small words stay small
		}
		words++
		if r, _ := utf8.DecodeRuneInString(title[w.Start:]); unicode.IsUpper(r) {
			capitals++
		}
	}
	return 2*capitals > words
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix returns a hash of two hashes, in this order.
func mix(a, b uint64) uint64 {
	h := a*0x9E3779B97F4A7C15 + b
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return h ^ h>>32
}
