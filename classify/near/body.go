package near

import (
	"encoding/binary"
	"slices"

	"feedmesh/classify/text"
)

// MaxText bounds the bytes of a text that are compared, about 1,300 words. Texts with an equal beginning of
// this length have equal sketches.
const MaxText = 8 << 10

const (
	shingleWords   = 4   // words in a shingle of a body
	minHashBins    = 128 // minima in a body's signature, 4 bits each
	filterShingles = 96  // leading shingles stored in a body's filter
	filterBits     = 768 // bits of that filter

	leadShingles  = 160 // leading shingles looked up in the filters of other bodies
	earlyShingles = 48  // leading shingles whose least hashes are indexed

	indexHashes     = 4  // least hashes indexed of all shingles, and again of the early shingles
	queryHashes     = 16 // least hashes of all shingles that query for candidates
	queryLeadHashes = 8  // and of the early shingles
)

// A Body is the stored sketch of a text: 164 bytes, whatever the text's length.
type Body struct {
	Shingles int32                 // distinct shingles; 0: no body to compare
	Minima   [minHashBins / 2]byte // two bins a byte; 0 for a bin without a shingle
	Lead     [filterBits / 8]byte
}

// body computes the sketch of a plain text: the signature that estimates resemblance, the hashes under which
// it is indexed and queried, and the filter of its beginning. It does nothing for fewer than minimum words.
// O(len(plain)).
//
// The signature is one-permutation MinHash: hashes are distributed over 128 bins, and 4 bits of the least
// hash of each bin are kept.
//
// Sources: P. Li, A. Owen, C. Zhang, One permutation hashing, 2012; P. Li, A. Koenig, b-bit minwise hashing,
// 2010.
func (s *Sketch) body(plain string, minimum int) {
	hashes := shingles(plain, minimum)
	if hashes == nil {
		return
	}
	s.LeadShingles = distinct(hashes[:min(len(hashes), leadShingles)])
	for _, h := range s.LeadShingles[:min(len(s.LeadShingles), filterShingles)] {
		setBits(&s.Body.Lead, h)
	}
	begin := slices.Clone(s.LeadShingles[:min(len(s.LeadShingles), earlyShingles)])
	slices.Sort(begin)
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	s.Body.Shingles = int32(len(hashes))
	s.Body.Minima = minima(hashes)

	s.IndexKeys = append(s.IndexKeys, begin[:min(len(begin), indexHashes)]...)
	for _, h := range hashes {
		if len(s.IndexKeys) == 2*indexHashes {
			break
		}
		if !slices.Contains(s.IndexKeys, h) {
			s.IndexKeys = append(s.IndexKeys, h)
		}
	}
	s.QueryKeys = append(s.QueryKeys, hashes[:min(len(hashes), queryHashes)]...)
	s.QueryKeys = append(s.QueryKeys, begin[:min(len(begin), queryLeadHashes)]...)
	slices.Sort(s.QueryKeys)
	s.QueryKeys = slices.Compact(s.QueryKeys)
}

// shingles returns the hash of each run of four words, in order; nil for fewer than minimum words.
func shingles(plain string, minimum int) []uint32 {
	plain = plain[:min(len(plain), MaxText)]
	hashes := make([]uint32, 0, len(plain)/6+1)
	var run [shingleWords]uint64
	words := 0
	for word := range text.EachFolded(plain) {
		run[words%shingleWords] = hash(word)
		if words++; words < shingleWords {
			continue
		}
		h := uint64(0)
		for j := range shingleWords {
			h = h*0x9e3779b97f4a7c15 + run[(words+j)%shingleWords]
		}
		hashes = append(hashes, uint32(mix(h)))
	}
	if words < max(minimum, shingleWords) {
		return nil
	}
	return hashes
}

// distinct returns the distinct hashes in order of first occurrence. It takes at most leadShingles hashes.
func distinct(hashes []uint32) []uint32 {
	var seen [4 * leadShingles]uint32 // a hash table with linear probing; 0 is a free slot
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

// minima returns the MinHash signature of sorted hashes.
func minima(sorted []uint32) (m [minHashBins / 2]byte) {
	var least [minHashBins]uint32
	for _, h := range sorted {
		x := mix(uint64(h) ^ 0x626f6479)
		bin, value := x%minHashBins, uint32(x>>32)|1
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

// resemblance estimates the Jaccard coefficient of the shingles of two bodies. Its standard error is at most
// 0.05.
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
	const chance = 1.0 / 15 // probability that different minima have equal bits
	r := (float64(same)/float64(used) - chance) / (1 - chance)
	return max(0, r)
}

// minRatio is the least ratio of the sizes of two long bodies at which the signature can estimate
// containment.
const minRatio = 0.1

// containment estimates the share of the shorter body's shingles that the longer body contains. first are the
// leading shingles of the other body, r is the resemblance of the two.
//
// All shingles of a teaser are looked up in the filter of the other body's beginning. For longer bodies the
// share follows from the resemblance and the sizes, which is useless if one body is far longer.
func (b *Body) containment(other *Body, first []uint32, r float64) float64 {
	short, long := min(b.Shingles, other.Shingles), max(b.Shingles, other.Shingles)
	c := 0.0
	if float64(short) >= minRatio*float64(long) {
		c = r * float64(short+long) / ((1 + r) * float64(short))
	}
	if short <= filterShingles {
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

// setBits and hasBits implement a Bloom filter with four hash functions.
func setBits(f *[filterBits / 8]byte, h uint32) {
	for x, i := mix(uint64(h)), 0; i < 4; i++ {
		bit := x & 0xffff % filterBits
		f[bit/8] |= 1 << (bit % 8)
		x >>= 16
	}
}

func hasBits(f *[filterBits / 8]byte, h uint32) bool {
	for x, i := mix(uint64(h)), 0; i < 4; i++ {
		bit := x & 0xffff % filterBits
		if f[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
		x >>= 16
	}
	return true
}

func (b *Body) encodedSize() int { return 4 + len(b.Minima) + len(b.Lead) }

func (b *Body) append(to []byte) []byte {
	to = binary.LittleEndian.AppendUint32(to, uint32(b.Shingles))
	return append(append(to, b.Minima[:]...), b.Lead[:]...)
}

func (b *Body) decode(from []byte) {
	b.Shingles = int32(binary.LittleEndian.Uint32(from))
	copy(b.Minima[:], from[4:])
	copy(b.Lead[:], from[4+len(b.Minima):])
}
