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

// language returns the language of the i-th feed: every third is Russian.
func language(i int) string {
	if i%3 == 2 {
		return "ru"
	}
	return "en"
}

// Text returns the title and the HTML of an entry of a [FeedServer], some 2 KB in total and always the same.
// The title contains the entry's unique word; see [UniqueWord].
func Text(i, seq int) (title, body string) {
	seed := fnv.New64a()
	fmt.Fprintf(seed, "%d/%d", i, seq)
	p := newProse(language(i), seed.Sum64(), uint64(seq))
	title = string(p.sentence(nil, 6)) + " " + UniqueWord(i, seq)
	var b []byte
	for n := range 5 {
		b = append(p.sentence(append(b, "<p>"...), 24), fmt.Sprintf(" <a href=\"/more/%d\">", n)...)
		b = append(p.sentence(b, 3), "</a>. "...)
		b = append(p.sentence(b, 24), ".</p>\n"...)
	}
	return title, string(b)
}

// UniqueWord returns a word that occurs in this entry only.
func UniqueWord(i, seq int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d", i, seq))
	return "x" + hex.EncodeToString(sum[:5])
}

// prose generates sentences of random words, a third of which are names.
type prose struct {
	words  []string
	parts  []string // of names
	names  []string
	random *rand.Rand
}

// newProse returns the prose of an entry. One entry in three reports an event that other entries of that time
// also report: with different words, but the same names.
func newProse(language string, seed, at uint64) prose {
	p := prose{words: english, parts: latin, random: rand.New(rand.NewPCG(seed, 1))}
	if language == "ru" {
		p.words, p.parts = russian, cyrillic
	}
	of := draw(seed, 2)
	if p.random.IntN(3) == 0 {
		of = draw(at, p.random.Uint64N(concurrentEvents))
	}
	p.names = p.generateNames(rand.New(rand.NewPCG(of, 2)))
	return p
}

const (
	concurrentEvents = 100 // concurrent events that several entries report
	names            = 20  // of an event
)

// generateNames generates the names of an event.
func (p prose) generateNames(random *rand.Rand) []string {
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

// gzipWriters is a pool: a new gzip writer costs more than most documents.
var gzipWriters = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return z
}}

func zipped(b []byte) []byte {
	out := bytes.NewBuffer(make([]byte, 0, len(b)/2))
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(out)
	z.Write(b) // to memory: never fails
	z.Close()
	return bytes.Clone(out.Bytes())
}
