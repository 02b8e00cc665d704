package story

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"feedmesh/classify/stem"
)

// A TermCounter counts the items of a set that contain each term. It has no lock: each worker needs one of its own.
type TermCounter struct {
	items int
	with  map[uint32]int // items with a term
}

// Add counts the terms of an item.
func (t *TermCounter) Add(w *Weights, item Item) {
	if t.with == nil {
		t.with = make(map[uint32]int)
	}
	t.items++
	for _, e := range w.Extract(item).vector {
		t.with[e.term]++
	}
}

const (
	leastShare = 1.0 / 500 // share of a set's items from which a term is common
	leastItems = 4         // with a term that is common
	levels     = 4         // of shares, per halving: a level is a byte of the file
)

// CommonTerms are terms that are frequent in the news of any month, and the share of items that contain each. Few
// items do not show that their words are common: in a lane of a few feeds, the first two items about "Rust" would
// share a word that no other item has.
type CommonTerms struct {
	shares map[uint32]float64
}

// Common returns the common terms of sets of items: of each term the largest share.
func Common(sets ...*TermCounter) *CommonTerms {
	c := &CommonTerms{shares: make(map[uint32]float64)}
	for _, set := range sets {
		for term, n := range set.with {
			if share := float64(n) / float64(set.items); n >= leastItems && share >= leastShare {
				c.shares[term] = max(c.shares[term], share)
			}
		}
	}
	return c
}

// AppendBinary implements [encoding.BinaryAppender]: the difference of each term from the one before, as a varint,
// and the level of its share.
func (c *CommonTerms) AppendBinary(b []byte) ([]byte, error) {
	last := uint32(0)
	for _, term := range slices.Sorted(maps.Keys(c.shares)) {
		b = binary.AppendUvarint(b, uint64(term-last))
		b = append(b, byte(math.Round(-levels*math.Log2(c.shares[term]))))
		last = term
	}
	return b, nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (c *CommonTerms) UnmarshalBinary(b []byte) error {
	c.shares = make(map[uint32]float64)
	term := uint64(0)
	for len(b) > 0 {
		more, n := binary.Uvarint(b)
		if term += more; n <= 0 || n >= len(b) || term > math.MaxUint32 {
			return errors.New("the list of common terms is damaged")
		}
		c.shares[uint32(term)] = math.Exp2(-float64(b[n]) / levels)
		b = b[n+1:]
	}
	return nil
}

// commonFile is written by "stories common".
//
//go:embed common.bin
var commonFile []byte

// A background is virtual events that contain the common terms: a hash table with linear probing. It is small enough
// for the processor's cache, since each term of a query is looked up. Workers may share it.
type background struct {
	terms []uint32 // 0 is free; the length is a power of two
	have  []uint16 // virtual events with the term
}

// background returns the terms of a number of virtual events.
func (c *CommonTerms) background(events int) (b background) {
	size := 1
	if c != nil {
		for size < 4*len(c.shares) {
			size *= 2
		}
	}
	b.terms, b.have = make([]uint32, size), make([]uint16, size)
	if c == nil {
		return b
	}
	for term, share := range c.shares {
		at := b.place(term)
		b.terms[at], b.have[at] = term, uint16(math.Round(share*float64(events)))
	}
	return b
}

// place returns the slot of a term, or the free slot where it would be.
func (b *background) place(term uint32) uint32 {
	mask := uint32(len(b.terms) - 1)
	at := term >> kindBits & mask
	for b.terms[at] != 0 && b.terms[at] != term {
		at = (at + 1) & mask
	}
	return at
}

// count returns the number of virtual events with a term.
func (b *background) count(term uint32) int { return int(b.have[b.place(term)]) }

// Share returns the share of items that contain a word of a language, or 0 if it is not a common term.
func (c *CommonTerms) Share(word, lang string) float64 {
	if c == nil {
		return 0
	}
	return c.shares[termOf(hash(stem.Of(word, lang)), isWord)]
}
