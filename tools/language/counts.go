package main

import (
	"archive/zip"
	"errors"
	"io"
	"math"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
)

// A sequence is one to four letters of 16 bits each, the last letter lowest. An edge stands for the beginning
// or end of a word.
type sequence uint64

const (
	edge    = ' '
	longest = 4
)

func sequenceOf(s []rune) sequence {
	var q sequence
	for _, r := range s {
		q = q<<16 | sequence(r)
	}
	return q
}

func (s sequence) length() int {
	n := 0
	for ; s != 0; s >>= 16 {
		n++
	}
	return n
}

// context returns all letters except the last.
func (s sequence) context() sequence { return s >> 16 }

// shorter returns all letters except the first.
func (s sequence) shorter() sequence { return s & (1<<(16*(s.length()-1)) - 1) }

// counts are the frequencies of sequences in a language, per letter of text.
type counts map[sequence]float64

// readCounts reads the tables of a language. They contain no edges: the frequency of a sequence at the end of
// a word is its total frequency minus that of all letters after it, and likewise at the beginning.
func readCounts(folder string, letter func(rune) bool) (counts, error) {
	inner := [longest + 1]counts{{0: 1}}
	for n, name := range []string{"unigrams", "bigrams", "trigrams", "quadrigrams"} {
		c, err := readTable(filepath.Join(folder, name+".pb.bin.zip"), letter, inner[n])
		if err != nil {
			return nil, err
		}
		inner[n+1] = c
	}
	all := make(counts)
	begin := [longest]counts{}
	for n := 1; n <= longest; n++ {
		add(all, inner[n])
		if n < longest {
			begin[n] = rest(inner[n], inner[n+1], sequence.shorter)
			for s, c := range begin[n] {
				all[edge<<(16*n)|s] += c
			}
			end(all, rest(inner[n], inner[n+1], sequence.context))
		}
	}
	for n := 1; n <= 2; n++ {
		for s, c := range rest(begin[n], begin[n+1], sequence.context) {
			all[(edge<<(16*n)|s)<<16|edge] += c
		}
	}
	for _, c := range begin[1] {
		all[edge] += c
	}
	return all, nil
}

// rest returns the remainder of c after subtracting each longer sequence from the part of it that c contains.
func rest(c, longer counts, part func(sequence) sequence) counts {
	left := make(counts, len(c))
	add(left, c)
	for s, n := range longer {
		left[part(s)] -= n
	}
	for s, n := range left {
		if n < 1e-9 {
			delete(left, s)
		}
	}
	return left
}

func add(to, from counts) {
	for s, n := range from {
		to[s] += n
	}
}

func end(to, from counts) {
	for s, n := range from {
		to[s<<16|edge] += n
	}
}

// readTable reads a table of conditional letter probabilities and multiplies them by the frequencies of their
// contexts.
func readTable(file string, letter func(rune) bool, contexts counts) (counts, error) {
	b, err := unzip(file)
	if err != nil {
		return nil, err
	}
	table := make(counts)
	err = eachField(b, func(number protowire.Number, set []byte) error {
		if number != 4 {
			return nil
		}
		var probability float64
		return eachField(set, func(number protowire.Number, value []byte) error {
			if number == 1 {
				bits, _ := protowire.ConsumeFixed64(value)
				probability = math.Float64frombits(bits)
				return nil
			}
			s := []rune(string(value))
			for _, r := range s {
				if !letter(r) {
					return nil
				}
			}
			q := sequenceOf(s)
			table[q] = probability * contexts[q.context()]
			return nil
		})
	})
	return table, err
}

// eachField calls do for each field of a protobuf message: strings and messages without their length, numbers
// as encoded.
func eachField(b []byte, do func(protowire.Number, []byte) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(number, kind, b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		value := b[:size]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if err := do(number, value); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

func unzip(file string) ([]byte, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	if len(z.File) != 1 {
		return nil, errors.New("want one file in the archive")
	}
	f, err := z.File[0].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
