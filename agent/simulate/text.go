package simulate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"

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
	p := newProse(language(i), seed.Sum64())
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

// prose writes sentences of random words.
type prose struct {
	words  []string
	random *rand.Rand
}

func newProse(language string, seed uint64) prose {
	words := english
	if language == "ru" {
		words = russian
	}
	return prose{words, rand.New(rand.NewPCG(seed, 1))}
}

// sentence appends a sentence of n words.
func (p prose) sentence(b []byte, n int) []byte {
	for i := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, p.words[p.random.IntN(len(p.words))]...)
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
