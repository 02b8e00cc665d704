package near

import (
	"slices"

	"feedmesh/classify/text"
)

// MaxText is how many bytes of a text are compared, some 1,300 words: texts that
// begin with the same have the same sketch.
const MaxText = 8 << 10

const (
	shingle = 4   // words of a shingle of a body
	bins    = 128 // minima of a body's signature, 4 bits each
	lead    = 96  // first shingles of a body that its filter has
	filter  = 768 // bits of that filter

	firsts = 160 // first shingles of a body that are looked for in the filters of others
	early  = 48  // first shingles of which the least are posted

	postedOf   = 4  // least hashes posted, of all shingles, and as many of the early ones
	soughtOf   = 16 // least hashes of all shingles that candidates are sought by
	soughtLead = 8  // and of the early ones
)

// A Body is what is kept of a text to compare it with others: 164 bytes, whatever
// its length.
type Body struct {
	Shingles int32          // different ones; 0: there is no body to compare
	Minima   [bins / 2]byte // two bins a byte; 0 in a bin without a shingle
	Lead     [filter / 8]byte
}

// body makes the sketch of a plain text: the signature by which its resemblance to
// others can be told, the hashes that it is posted and sought by, and those of its
// beginning. Nothing if it has fewer than minimum words. O(len(plain)).
//
// The signature is MinHash in one permutation: the hashes are dealt to 128 bins,
// and 4 bits of the least of each are kept.
//
// Sources: P. Li, A. Owen, C. Zhang, One permutation hashing, 2012; P. Li, A. Koenig,
// b-bit minwise hashing, 2010.
func (s *Sketch) body(plain string, minimum int) {
	hashes := shingles(plain, minimum)
	if hashes == nil {
		return
	}
	s.Firsts = distinct(hashes[:min(len(hashes), firsts)])
	for _, h := range s.Firsts[:min(len(s.Firsts), lead)] {
		setBits(&s.Body.Lead, h)
	}
	begin := slices.Clone(s.Firsts[:min(len(s.Firsts), early)])
	slices.Sort(begin)
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	s.Body.Shingles = int32(len(hashes))
	s.Body.Minima = minima(hashes)

	s.Posted = append(s.Posted, begin[:min(len(begin), postedOf)]...)
	for _, h := range hashes {
		if len(s.Posted) == 2*postedOf {
			break
		}
		if !slices.Contains(s.Posted, h) {
			s.Posted = append(s.Posted, h)
		}
	}
	s.Sought = append(s.Sought, hashes[:min(len(hashes), soughtOf)]...)
	s.Sought = append(s.Sought, begin[:min(len(begin), soughtLead)]...)
	slices.Sort(s.Sought)
	s.Sought = slices.Compact(s.Sought)
}

// shingles returns the hash of each run of four words, in order; nil if there are
// fewer than minimum words.
func shingles(plain string, minimum int) []uint32 {
	plain = plain[:min(len(plain), MaxText)]
	hashes := make([]uint32, 0, len(plain)/6+1)
	var run [shingle]uint64
	words := 0
	for word := range text.Folded(plain) {
		run[words%shingle] = hash(word)
		if words++; words < shingle {
			continue
		}
		h := uint64(0)
		for j := range shingle {
			h = h*0x9e3779b97f4a7c15 + run[(words+j)%shingle]
		}
		hashes = append(hashes, uint32(mix(h)))
	}
	if words < max(minimum, shingle) {
		return nil
	}
	return hashes
}

// distinct returns at most firsts hashes in order, each once.
func distinct(hashes []uint32) []uint32 {
	var seen [4 * firsts]uint32 // with linear probing; 0 is free
	kept := make([]uint32, 0, len(hashes))
	for _, h := range hashes {
		at := h % uint32(len(seen))
		for seen[at] != 0 && seen[at] != h {
			at = (at + 1) % uint32(len(seen))
		}
		if seen[at] == 0 {
			seen[at] = h
			kept = append(kept, h)
		}
	}
	return kept
}

// minima returns the signature of sorted hashes.
func minima(sorted []uint32) (m [bins / 2]byte) {
	var least [bins]uint32
	for _, h := range sorted {
		x := mix(uint64(h) ^ 0x626f6479)
		bin, value := x%bins, uint32(x>>32)|1
		if least[bin] == 0 || value < least[bin] {
			least[bin] = value
		}
	}
	for bin, value := range least {
		if value != 0 {
			nibble := byte(mix(uint64(value))%15) + 1
			m[bin/2] |= nibble << (bin % 2 * 4)
		}
	}
	return m
}

// resemblance estimates the Jaccard coefficient of the shingles of two bodies; its
// standard error is at most 0.05.
func (b *Body) resemblance(other *Body) float64 {
	same, used := 0, 0
	for i, x := range b.Minima {
		y := other.Minima[i]
		for range 2 {
			p, q := x&15, y&15
			if p|q != 0 {
				used++
				if p == q {
					same++
				}
			}
			x, y = x>>4, y>>4
		}
	}
	if used == 0 {
		return 0
	}
	const chance = 1.0 / 15 // that different minima have equal bits
	r := (float64(same)/float64(used) - chance) / (1 - chance)
	return max(0, r)
}

// minRatio is the least ratio of the sizes of two long bodies at which the
// signature still tells how much of the shorter is in the longer.
const minRatio = 0.1

// containment estimates which share of the shingles of the shorter of two bodies is
// in the longer one. first are the first shingles of the other body, r is the
// resemblance of the two.
//
// Where the shorter one is a teaser, its shingles are all looked for in the
// beginning of the other; else its share follows from the resemblance and the
// sizes, which is of no use if one is far longer.
func (b *Body) containment(other *Body, first []uint32, r float64) float64 {
	short, long := min(b.Shingles, other.Shingles), max(b.Shingles, other.Shingles)
	c := 0.0
	if float64(short) >= minRatio*float64(long) {
		c = r * float64(short+long) / ((1 + r) * float64(short))
	}
	if short <= lead {
		hits := 0
		for _, h := range first {
			if hasBits(&b.Lead, h) {
				hits++
			}
		}
		c = max(c, float64(hits)/float64(short))
	}
	return min(c, 1)
}

// setBits and hasBits are those of a Bloom filter with four hash functions.
func setBits(f *[filter / 8]byte, h uint32) {
	for x, i := mix(uint64(h)), 0; i < 4; i++ {
		bit := x & 0xffff % filter
		f[bit/8] |= 1 << (bit % 8)
		x >>= 16
	}
}

func hasBits(f *[filter / 8]byte, h uint32) bool {
	for x, i := mix(uint64(h)), 0; i < 4; i++ {
		bit := x & 0xffff % filter
		if f[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		x >>= 16
	}
	return true
}
