package spam

import (
	"hash/maphash"
	"time"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

const (
	sketchSize     = 8  // hashes that represent a text
	titleSize      = 8  // words of a title that are compared
	minEqualHashes = 5  // equal hashes of nearly identical texts
	minShared      = 3  // shared words of similar titles
	minRun         = 20 // words of a text below which its hashes are not meaningful

	// Bytes examined: the beginnings are sufficient.
	maxSketchTitle = 1000
	maxSketchText  = 4000
)

// An itemSketch is the stored form of an item: 48 bytes. Of each hash 16 bits are kept: that two differ in 32 bits and
// agree in 16 is too seldom to matter.
type itemSketch struct {
	exact  uint64 // of title and text: equal hashes are the same item
	at     int64  // Unix seconds
	sketch [sketchSize]uint16
	title  [titleSize]uint16 // hashes of its words except numbers, 0 for none
}

// seed is shared by all sketches, which exist only within the process.
var seed = maphash.MakeSeed()

func newItemSketch(title, text string, at time.Time) itemSketch {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(title)
	h.WriteByte(0)
	h.WriteString(text[:min(len(text), maxText)])
	t := itemSketch{exact: h.Sum64(), at: at.Unix()}
	n := 0
	for _, w := range stem.Words(title[:min(len(title), maxSketchTitle)], "") {
		if n < titleSize && (w.Stem[0] < '0' || w.Stem[0] > '9') {
			hash := emptyHash
			for i := range len(w.Stem) {
				hash.add(w.Stem[i])
			}
			t.title[n] = max(1, uint16(hash.sum()))
			n++
		}
	}
	for i, least := range sketchOf(text[:min(len(text), maxSketchText)]) {
		t.sketch[i] = uint16(least)
	}
	return t
}

// A wordHash is the FNV-1a hash of a word, computed byte by byte.
//
// Source: G. Fowler, L. C. Noll, K. Vo, The FNV non-cryptographic hash algorithm.
type wordHash uint32

const emptyHash wordHash = 2166136261

func (h *wordHash) add(b byte) { *h = (*h ^ wordHash(b)) * 16777619 }

// sum returns the hash, never 0, which stands for no word.
func (h wordHash) sum() uint32 { return max(1, uint32(h)) }

// sketchOf returns the MinHash of a text: for each of eight hash functions the minimum over its runs of three
// lower-case words. The expected share of equal values in two sketches is the share of runs that the texts
// have in common. It returns zeros if the text is too short.
//
// Source: A. Broder, On the resemblance and containment of documents, 1997.
func sketchOf(text string) [sketchSize]uint32 {
	s := sketcher{word: emptyHash}
	for i := range s.least {
		s.least[i] = ^uint32(0)
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && r > ' ':
			s.word.add(byte(lower(r)))
			s.inside = true
		case unicode.IsSpace(r):
			s.end()
		default:
			var b [utf8.UTFMax]byte
			for _, c := range b[:utf8.EncodeRune(b[:], lower(r))] {
				s.word.add(c)
			}
			s.inside = true
		}
	}
	s.end()
	if s.words < minRun {
		return [sketchSize]uint32{}
	}
	return s.least
}

// A sketcher computes a sketch word by word.
type sketcher struct {
	word   wordHash // hash of the current word
	inside bool     // within a word
	words  int      // words before the current word
	run    [3]uint32
	least  [sketchSize]uint32
}

// end ends the current word, if there is one.
func (s *sketcher) end() {
	if !s.inside {
		return
	}
	n := s.words
	s.run[n%3] = s.word.sum()
	s.words, s.word, s.inside = n+1, emptyHash, false
	if n < 2 {
		return
	}
	x := s.run[(n-2)%3]*0x9E3779B1 ^ s.run[(n-1)%3]*0x85EBCA77 ^ s.run[n%3]
	for i := range s.least {
		x = x*0xC2B2AE3D + 0x27D4EB2F
		s.least[i] = min(s.least[i], x^x>>15)
	}
}

// isCopy reports whether two texts are nearly identical.
func (t itemSketch) isCopy(other itemSketch) bool {
	if t.sketch[0] == 0 && t.sketch[1] == 0 {
		return false // too short
	}
	same := 0
	for i := range t.sketch {
		if t.sketch[i] == other.sketch[i] {
			same++
		}
	}
	return same >= minEqualHashes
}

// isSimilar reports whether two items appear to come from one template.
func (t itemSketch) isSimilar(other itemSketch) bool {
	shared, words := 0, 0
	for _, w := range t.title {
		if w == 0 {
			break
		}
		words++
		for _, o := range other.title {
			if o == w {
				shared++
				break
			}
		}
	}
	return shared >= minShared && 2*shared >= words || t.isCopy(other)
}
