package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"unicode"

	"github.com/klauspost/compress/gzip"
)

// language returns the language of the i-th feed: every third is in Russian.
func language(i int) string {
	if i%3 == 2 {
		return "ru"
	}
	return "en"
}

// Text returns the title and the HTML of an entry of a [Farm], some 2 KB in all
// and the same each time. The title has the word [Mark] of the entry in it.
func Text(i, seq int) (title, body string) {
	seed := fnv.New64a()
	fmt.Fprintf(seed, "%d/%d", i, seq)
	p := newProse(language(i), seed.Sum64(), uint64(seq))
	title = string(p.sentence(nil, 6)) + " " + Mark(i, seq)
	var b []byte
	for n := range 5 {
		b = append(p.sentence(append(b, "<p>"...), 24), fmt.Sprintf(" <a href=\"/more/%d\">", n)...)
		b = append(p.sentence(b, 3), "</a>. "...)
		b = append(p.sentence(b, 24), ".</p>\n"...)
	}
	return title, string(b)
}

// Mark returns a word that occurs in one entry only.
func Mark(i, seq int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d", i, seq))
	return "x" + hex.EncodeToString(sum[:5])
}

// prose writes sentences of random words, a third of which are names.
type prose struct {
	words  []string
	parts  []string // of names
	names  []string
	random *rand.Rand
}

// newProse returns the prose of an entry. One in three is of something that other
// entries of that time tell of too: in its own words, but with the same names.
func newProse(language string, seed, at uint64) prose {
	p := prose{words: english, parts: latin, random: rand.New(rand.NewPCG(seed, 1))}
	if language == "ru" {
		p.words, p.parts = russian, cyrillic
	}
	of := draw(seed, 2)
	if p.random.IntN(3) == 0 {
		of = draw(at, p.random.Uint64N(happenings))
	}
	p.names = p.drawNames(rand.New(rand.NewPCG(of, 2)))
	return p
}

const (
	happenings = 100 // at a time, that several entries tell of
	names      = 20  // in a happening
)

// drawNames makes up the names of a happening.
func (p prose) drawNames(random *rand.Rand) []string {
	list := make([]string, names)
	for i := range list {
		var name []rune
		for range 3 {
			name = append(name, []rune(p.parts[random.IntN(len(p.parts))])...)
		}
		name[0] = unicode.ToUpper(name[0])
		list[i] = string(name)
	}
	return list
}

// sentence appends a sentence of n words.
func (p prose) sentence(b []byte, n int) []byte {
	for i := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		from := p.words
		if i%3 == 2 {
			from = p.names
		}
		b = append(b, from[p.random.IntN(len(from))]...)
	}
	return b
}

// zippers are at rest: a new one costs more than most documents.
var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is a valid one
	return z
}}

func zipped(b []byte) []byte {
	out := bytes.NewBuffer(make([]byte, 0, len(b)/2))
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	z.Reset(out)
	z.Write(b) // to memory: can't fail
	z.Close()
	return bytes.Clone(out.Bytes())
}
