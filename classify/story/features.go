package story

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
	"feedmesh/classify/text"
)

// Features contains the terms of an item: at most 128 terms, 12 bytes each. It depends on the item alone, so
// workers can compute it concurrently, which halves the work of the goroutine that owns the [Clusters].
type Features struct {
	vector vector // of length 1
	spots  []spot // positions of the terms, for explanations
}

// A spot is the position of a term in an item: the lowest 10 bits are its length, 0 for a pair of words; the
// highest bit is set for the text; the others are the offset.
type spot uint32

const (
	inText   = 1 << 31
	spotBits = 10
)

// of returns the text at a spot of an item.
func (s spot) of(item Item) string {
	in, from, length := item.Title, int(s&^inText)>>spotBits, int(s&(1<<spotBits-1))
	if s&inText != 0 {
		in = item.Text
	}
	return in[min(from, len(in)):min(from+length, len(in))]
}

const (
	maxTitle    = 1 << 10 // bytes of a title that are used
	maxWords    = 100     // words of a title that are used
	maxName     = 4       // words of a name; longer runs are headings
	maxWord     = 64      // bytes of a word; longer ones are ignored
	titleCounts = 3
)

// MaxText bounds the bytes of a text that are used. Texts with an equal beginning of this length have equal
// features.
const MaxText = 8 << 10

// Extract extracts the terms of an item's title and of the head of its text, in its language. It is safe for
// concurrent use and independent of other items. Pass the result in the item. The terms are stems, pairs of
// neighbouring stems, numbers and names; a word of the title counts three times if the item has a text. At
// most 128 terms are kept: those of most weight, of equal weights the first. O(len(title) + words read).
func (w *Weights) Extract(item Item) *Features {
	r := extractors.Get().(*extractor)
	defer extractors.Put(r)
	r.begin(item.Language)
	title, body := item.Title[:min(len(item.Title), maxTitle)], item.Text[:min(len(item.Text), MaxText)]
	count := float32(1)
	if body != "" {
		count = titleCounts
	}
	words := text.Words(title)
	r.read(title, words[:min(len(words), maxWords)], count, !isTitleCased(title, words), 0)
	r.read(body, firstWords(body, w.BodyWords), 1, true, inText)
	for i := range r.list {
		t := &r.list[i]
		t.weight = float32(w.frequency(float64(t.weight)) * w.ofKind(t.kind))
	}
	return r.features()
}

// firstWords returns at most the first n words of a text. Words end at a space, so it tokenizes piece by
// piece and skips most of a long text.
func firstWords(s string, n int) []text.Word {
	from := spaceBehind(s, 8*n)
	words := slices.Clip(text.Words(s[:from]))
	for from < len(s) && len(words) < n {
		to := spaceBehind(s, from+8*(n-len(words)))
		for _, w := range text.Words(s[from:to]) {
			words = append(words, text.Word{Text: w.Text, Start: from + w.Start, End: from + w.End})
		}
		from = to
	}
	return words[:min(len(words), n)]
}

// spaceBehind returns the offset of the first space from at on.
func spaceBehind(s string, at int) int {
	if at >= len(s) {
		return len(s)
	}
	if i := strings.IndexByte(s[at:], ' '); i >= 0 {
		return at + i
	}
	return len(s)
}

// A termCount is a term of the current item.
type termCount struct {
	term   uint32
	kind   kind
	weight float32 // count, then weight
	at     spot
}

// An extractor collects the terms of one item after another. Readers are in a pool.
type extractor struct {
	lang      string
	salt      uint64 // of the language, for the stem cache
	stop      map[string]bool
	list      []termCount
	kept      []termCount // buffer for the heaviest of list
	seen      []uint32    // hash table of index in list + 1, by term, with linear probing; 0 is free
	order     []uint64
	stemCache [1 << 15]cachedStem
}

// cachedStem is an entry of the stem cache. Stemming takes as long as all other work on a word.
type cachedStem struct{ word, stem uint64 }

// stopped is the stem of stop words.
const stopped = 0

var extractors = sync.Pool{New: func() any { return &extractor{seen: make([]uint32, 1024)} }}

func (r *extractor) begin(lang string) {
	r.lang, r.salt, r.stop = lang, mix(1, hash(lang)), stem.StopWords(lang)
	if r.stop == nil {
		r.stop = stem.StopWords("en")
	}
	r.list = r.list[:0]
	clear(r.seen)
}

// stem returns the hash of the stem of a word, or stopped.
func (r *extractor) stem(word string) uint64 {
	if len(word) > maxWord {
		return stopped
	}
	h := mix(r.salt, hash(word))
	at := &r.stemCache[h%uint64(len(r.stemCache))]
	if at.word != h {
		at.word, at.stem = h, stopped
		if !r.stop[word] {
			at.stem = hash(stem.Of(word, r.lang))
		}
	}
	return at.stem
}

// read adds the terms of words of s with a count each. Capitals indicate names only if names is set. in is
// the flag for title or text.
func (r *extractor) read(s string, words []text.Word, count float32, names bool, in spot) {
	var last uint64 // stem before this one
	var run uint64  // hash of the capitalised words before this one
	runs, from := 0, 0
	endRun := func(end int) {
		if runs > 0 && runs <= maxName {
			r.add(mix(run, uint64(isName)), isName, count, in|spot(from<<spotBits|min(end-from, 1<<spotBits-1)))
		}
		run, runs = 0, 0
	}
	end := 0
	for i, w := range words {
		at := r.stem(w.Text)
		if at == stopped {
			endRun(end)
			last, end = 0, w.End
			continue
		}
		k := isWord
		if first := w.Text[0]; first >= '0' && first <= '9' {
			k = isNumber
		}
		r.add(at, k, count, in|spot(w.Start<<spotBits|min(w.End-w.Start, 1<<spotBits-1)))
		if last != 0 {
			r.add(mix(last, at), isPair, count, 0)
		}
		last = at
		capital, _ := utf8.DecodeRuneInString(s[w.Start:])
		between := s[end:w.Start]
		begins := i == 0 || strings.ContainsAny(between, ".!?:\n")
		if w.Start-end > 1 { // punctuation between the words
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

func (r *extractor) add(hash uint64, k kind, count float32, at spot) {
	t := termOf(hash, k)
	i := r.find(t)
	if n := r.seen[i]; n != 0 {
		r.list[n-1].weight += count
		return
	}
	r.list = append(r.list, termCount{t, k, count, at})
	r.seen[i] = uint32(len(r.list))
	if 2*len(r.list) > len(r.seen) {
		r.seen = make([]uint32, 2*len(r.seen))
		for at := range r.list {
			r.seen[r.find(r.list[at].term)] = uint32(at + 1)
		}
	}
}

// find returns the slot in seen of a term, or a free slot for it.
func (r *extractor) find(t uint32) int {
	mask := len(r.seen) - 1
	i := int(t>>kindBits) & mask
	for r.seen[i] != 0 && r.list[r.seen[i]-1].term != t {
		i = (i + 1) & mask
	}
	return i
}

// features returns the unit vector of the terms.
func (r *extractor) features() *Features {
	if len(r.list) > maxTerms {
		r.keepHeaviest()
	}
	// Term and index in one number sort by term, much faster than structs.
	r.order = r.order[:0]
	square := 0.0
	for i, t := range r.list {
		r.order = append(r.order, uint64(t.term)<<32|uint64(i))
		square += float64(float64(t.weight) * float64(t.weight))
	}
	slices.Sort(r.order)
	length := math.Sqrt(square)
	features := &Features{vector: make(vector, len(r.list)), spots: make([]spot, len(r.list))}
	for i, o := range r.order {
		t := &r.list[uint32(o)]
		features.vector[i] = entry{t.term, float32(float64(t.weight) / length)}
		features.spots[i] = t.at
	}
	return features
}

// keepHeaviest keeps the maxTerms heaviest terms, of equal weights the first, in descending order.
func (r *extractor) keepHeaviest() {
	// Weight and index in one number sort by weight; the greatest weight has the least number.
	r.order = r.order[:0]
	for i, t := range r.list {
		r.order = append(r.order, uint64(^math.Float32bits(t.weight))<<32|uint64(i))
	}
	slices.Sort(r.order)
	r.kept = r.kept[:0]
	for _, o := range r.order[:maxTerms] {
		r.kept = append(r.kept, r.list[uint32(o)])
	}
	r.list, r.kept = r.kept, r.list
}

// isTitleCased reports whether most words of a title begin with a capital. Then capitals do not indicate
// names.
func isTitleCased(title string, words []text.Word) bool {
	long, capitals := 0, 0
	for _, w := range words {
		if w.End-w.Start < 4 {
			continue // short words are lower case in title case
		}
		long++
		if r, _ := utf8.DecodeRuneInString(title[w.Start:]); unicode.IsUpper(r) {
			capitals++
		}
	}
	return 2*capitals > long
}

// termOf returns the term of a hash: 30 bits of it, and its kind. Of ten million terms one in 100 collides, which has
// no visible effect in a vector of many terms.
func termOf(hash uint64, k kind) uint32 {
	hash ^= hash >> 33
	hash *= 0xff51afd7ed558ccd
	t := uint32(hash>>32)&^(kinds-1) | uint32(k)
	return max(t, kinds) // 0 means no term
}

// kindOf returns the kind of a term.
func kindOf(t uint32) kind { return kind(t & (kinds - 1)) }

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix returns a hash of two hashes. The order matters.
func mix(a, b uint64) uint64 {
	h := a*0x9E3779B97F4A7C15 + b
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return h ^ h>>32
}
