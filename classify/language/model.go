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

// packed is what train writes. It comes from the tables of lingua-go v1.4.0 by
// Peter M. Stahl, Apache License 2.0.
//
//go:embed model.bin.gz
var packed []byte

// A sequence is one to four letters, 16 bits each, the last one lowest. An edge
// in it is where a word begins or ends.
type sequence uint64

const (
	edge = ' '
	step = 1.0 / 16 // of a cost, in nats
)

// A model tells the languages of one script apart. For a sequence of letters it
// says what the last one costs after the others in each language: -ln of its
// probability, in steps.
type model struct {
	languages []string
	usual     []float64 // of each language
	slots     []uint32  // a hash table of rows, from 1; 0 is empty
	keys      []sequence
	costs     []byte // rows of len(languages)
}

// models are the models by the name of the script.
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

// readModel reads a model and returns what follows it. The file has the costs
// of one language in a row, as this packs better; here those of one sequence
// are.
func readModel(b []byte) (*model, []byte) {
	names, b := cut(b)
	m := &model{languages: strings.Fields(names)}
	for _, l := range m.languages {
		m.usual = append(m.usual, usual(l))
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

// slot returns where k is in the hash table, or would be.
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

// row returns the costs of the last letter of the longest sequence known of
// those that end in k, or nil if even that letter is unknown.
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

// add adds what a word costs in each language, times weight, to sums, and
// returns for how many letters.
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

// lower is unicode.ToLower, faster for Latin and Russian letters.
func lower(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'а' && r <= 'я':
		return r
	case r >= 'A' && r <= 'Z', r >= 'А' && r <= 'Я':
		return r + 32
	}
	return unicode.ToLower(r)
}
