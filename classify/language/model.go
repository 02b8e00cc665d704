package language

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"io"
	"strings"
	"sync"
	"unicode"
)

// packed is the output of command train. It is derived from the tables of lingua-go v1.4.0 by Peter M. Stahl,
// Apache License 2.0.
//
//go:embed model.bin.gz
var packed []byte

// A sequence is one to four letters of 16 bits each, the last letter lowest. An edge stands for the beginning
// or end of a word.
type sequence uint64

const (
	edge = ' '
	step = 1.0 / 16 // unit of costs, in nats
)

// A model distinguishes the languages of one script. For a sequence of letters it holds the cost of the last
// letter after the others in each language: -ln of its probability, in steps.
type model struct {
	languages   []string
	frequencies []float64 // by language
	slots       []uint32  // hash table of row numbers, from 1; 0 is empty
	keys        []sequence
	costs       []byte // rows of len(languages)
}

// models returns the models by script name. They are decompressed on first use and cached.
var models = sync.OnceValue(func() map[string]*model {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	all := make(map[string]*model)
	for len(b) > 0 {
		var script string
		script, b = cut(b)
		all[script], b = readModel(b)
	}
	return all
})

func cut(b []byte) (string, []byte) {
	n := 1 + int(b[0])
	return string(b[1:n]), b[n:]
}

// readModel reads a model and returns the rest of the input. The file stores all costs of one language
// together, because this compresses better; memory stores those of one sequence together.
func readModel(b []byte) (*model, []byte) {
	names, b := cut(b)
	m := &model{languages: strings.Fields(names)}
	for _, l := range m.languages {
		m.frequencies = append(m.frequencies, frequency(l))
	}
	rows, n := binary.Uvarint(b)
	b = b[n:]
	m.keys = make([]sequence, rows)
	last := sequence(0)
	for i := range m.keys {
		d, n := binary.Uvarint(b)
		b = b[n:]
		last += sequence(d)
		m.keys[i] = last
	}
	size := 1
	for size < 2*len(m.keys) {
		size *= 2
	}
	m.slots = make([]uint32, size)
	m.costs = make([]byte, len(m.keys)*len(m.languages))
	for i, k := range m.keys {
		*m.slot(k) = uint32(i + 1)
		for l := range m.languages {
			m.costs[i*len(m.languages)+l] = b[l*len(m.keys)+i]
		}
	}
	return m, b[len(m.costs):]
}

// slot returns the slot of k in the hash table, or a free slot for it.
func (m *model) slot(k sequence) *uint32 {
	i := uint64(k) * 0x9E3779B97F4A7C15 >> 32
	for {
		s := &m.slots[i&uint64(len(m.slots)-1)]
		if *s == 0 || m.keys[*s-1] == k {
			return s
		}
		i++
	}
}

// row returns the costs of the last letter of k after the longest stored context, or nil if even the letter
// alone is not stored.
func (m *model) row(k sequence) []byte {
	for bits := 48; bits >= 0; bits -= 16 {
		if k>>bits == 0 {
			continue // it has fewer letters
		}
		if i := *m.slot(k & (1<<(bits+16) - 1)); i != 0 {
			n := len(m.languages)
			return m.costs[int(i-1)*n : int(i)*n]
		}
	}
	return nil
}

// add adds the cost of a word in each language, multiplied by weight, to sums, and returns the number of
// letters.
func (m *model) add(sums []int, word string, weight int) int {
	letters := 0
	k := sequence(edge)
	next := func(r rune) {
		k = k<<16 | sequence(r)
		if row := m.row(k); row != nil {
			for l, c := range row[:len(sums)] {
				sums[l] += weight * int(c)
			}
			letters++
		}
	}
	for _, r := range word {
		if r < 1<<16 {
			next(lower(r))
		}
	}
	next(edge)
	return letters
}

// lower is unicode.ToLower with a fast path for Latin and Russian letters.
func lower(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'а' && r <= 'я':
		return r
	case r >= 'A' && r <= 'Z', r >= 'А' && r <= 'Я':
		return r + 32
	}
	return unicode.ToLower(r)
}

// frequency returns the logarithm of a language's share among the languages of its script on the web, up to a
// constant of the script.
func frequency(lang string) float64 {
	switch {
	case lang == "en":
		return 0
	case lang == "ru", lang == "ar", lang == "hi":
		return -0.5
	case strings.Contains("de fr es it pt nl pl uk fa", lang):
		return -2
	case strings.Contains("af eo ga la so tl cy eu", lang):
		return -5
	}
	return -3
}
