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

// A Reading is what the words of an item say: at most 128 terms, 12 bytes each. It
// is made of the item alone, so that many can be made at once, beside the one who
// owns the [Clusters], whose work is half as much then.
type Reading struct {
	vector vector // of length 1
	spots  []spot // where the terms stand, for people
}

// A spot is where a term stands in an item: the lowest 10 bits are its length, 0 for
// a pair of words, the highest says that it is in the text, the others say where.
type spot uint32

const (
	inText   = 1 << 31
	spotBits = 10
)

// of returns what stands at a spot of the item that was read.
func (s spot) of(item Item) string {
	in, from, length := item.Title, int(s&^inText)>>spotBits, int(s&(1<<spotBits-1))
	if s&inText != 0 {
		in = item.Text
	}
	return in[min(from, len(in)):min(from+length, len(in))]
}

const (
	maxTitle    = 1 << 10 // bytes of a title that are read
	maxWords    = 100     // words of a title that are read
	maxName     = 4       // words of a name; longer runs are headings
	maxWord     = 64      // bytes of a word; what is longer is none
	titleCounts = 3
)

// MaxText is how many bytes of a text are read: texts that begin with the same say
// the same.
const MaxText = 8 << 10

// Read reads an item's words: its title and the head of its text in its language.
// It knows nothing of other items, and may be called concurrently. Items come with
// what it returns in [Item.Read]. The terms are the stems, pairs of neighbouring
// ones, numbers and names; a word of the title counts three times where there is a
// text. Of more than 128 terms those stay that the item says most, of equal ones
// the first. O(len(title) + words read).
func (w *Weights) Read(item Item) *Reading {
	r := readers.Get().(*reader)
	defer readers.Put(r)
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
	return r.reading()
}

// firstWords returns the first n words of a text, or all if there are fewer. Most
// of a long text is not looked at: words end at a space, so it is read piece by piece.
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

// spaceBehind returns where the first space from a place on is: words end there.
func spaceBehind(s string, at int) int {
	if at >= len(s) {
		return len(s)
	}
	if i := strings.IndexByte(s[at:], ' '); i >= 0 {
		return at + i
	}
	return len(s)
}

// A kind says what a term of an item is.
type kind uint8

const (
	isWord kind = iota
	isPair      // two neighbouring stems
	isNumber
	isName // a run of capitalised words
)

// A saying is a term of the item that is being read.
type saying struct {
	term   uint32
	kind   kind
	weight float32 // how often it is said, then how much that says
	at     spot
}

// A reader collects the terms of one item after another.
type reader struct {
	lang  string
	salt  uint64 // of the language, for known
	stop  map[string]bool
	list  []saying
	kept  []saying // room for those of list that weigh most
	seen  []uint32 // places in list, and 1, by term, with linear probing; 0 is free
	order []uint64
	known [1 << 15]known
}

// known is the hash of a stem: to find it takes as long as all else that is done to
// a word.
type known struct{ word, stem uint64 }

// stopped is the stem of words that say nothing.
const stopped = 0

var readers = sync.Pool{New: func() any { return &reader{seen: make([]uint32, 1024)} }}

func (r *reader) begin(lang string) {
	r.lang, r.salt, r.stop = lang, mix(1, hash(lang)), stem.Stop(lang)
	if r.stop == nil {
		r.stop = stem.Stop("en")
	}
	r.list = r.list[:0]
	clear(r.seen)
}

// stem returns the hash of the stem of a word, or stopped.
func (r *reader) stem(word string) uint64 {
	if len(word) > maxWord {
		return stopped
	}
	h := mix(r.salt, hash(word))
	at := &r.known[h%uint64(len(r.known))]
	if at.word != h {
		at.word, at.stem = h, stopped
		if !r.stop[word] {
			at.stem = hash(stem.Of(word, r.lang))
		}
	}
	return at.stem
}

// read adds the terms of words of s, each counted so often. Capitals mean names
// only where names is true. in says whether s is the title or the text.
func (r *reader) read(s string, words []text.Word, count float32, names bool, in spot) {
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

func (r *reader) add(hash uint64, k kind, count float32, at spot) {
	t := termOf(hash, k)
	i := r.find(t)
	if n := r.seen[i]; n != 0 {
		r.list[n-1].weight += count
		return
	}
	r.list = append(r.list, saying{t, k, count, at})
	r.seen[i] = uint32(len(r.list))
	if 2*len(r.list) > len(r.seen) {
		r.seen = make([]uint32, 2*len(r.seen))
		for at := range r.list {
			r.seen[r.find(r.list[at].term)] = uint32(at + 1)
		}
	}
}

// find returns the place in seen of a term, or the one for it.
func (r *reader) find(t uint32) int {
	mask := len(r.seen) - 1
	i := int(t>>1) & mask
	for r.seen[i] != 0 && r.list[r.seen[i]-1].term != t {
		i = (i + 1) & mask
	}
	return i
}

// reading returns what the terms say.
func (r *reader) reading() *Reading {
	if len(r.list) > maxTerms {
		r.keepHeaviest()
	}
	// Term and place in one number sort by term, and much faster than terms do.
	r.order = r.order[:0]
	square := 0.0
	for i, t := range r.list {
		r.order = append(r.order, uint64(t.term)<<32|uint64(i))
		square += float64(float64(t.weight) * float64(t.weight))
	}
	slices.Sort(r.order)
	length := math.Sqrt(square)
	reading := &Reading{vector: make(vector, len(r.list)), spots: make([]spot, len(r.list))}
	for i, o := range r.order {
		t := &r.list[uint32(o)]
		reading.vector[i] = entry{t.term, float32(float64(t.weight) / length)}
		reading.spots[i] = t.at
	}
	return reading
}

// keepHeaviest keeps the maxTerms terms that weigh most, of equal ones the first, the
// heaviest first.
func (r *reader) keepHeaviest() {
	// Weight and place in one number sort by weight; the greatest has the least number.
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

// isTitleCased reports whether most words of a title begin with a capital, as
// is the custom of some, so that capitals do not tell names.
func isTitleCased(title string, words []text.Word) bool {
	long, capitals := 0, 0
	for _, w := range words {
		if w.End-w.Start < 4 {
			continue // small words stay small
		}
		long++
		if r, _ := utf8.DecodeRuneInString(title[w.Start:]); unicode.IsUpper(r) {
			capitals++
		}
	}
	return 2*capitals > long
}

// termOf returns the term of a hash: 31 bits of it, and whether it is a name. Among
// ten million terms one in 200 is taken for another one, which nobody notices in
// a vector of many.
func termOf(hash uint64, k kind) uint32 {
	hash ^= hash >> 33
	hash *= 0xff51afd7ed558ccd
	t := uint32(hash>>32) &^ 1
	if k == isName {
		t |= 1
	}
	return max(t, 2) // 0 is none
}

// isNameTerm reports whether a term is a name.
func isNameTerm(t uint32) bool { return t&1 == 1 }

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
