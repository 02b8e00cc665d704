package spam

import (
	"hash/maphash"
	"time"
	"unicode"
	"unicode/utf8"

	"feedmesh/classify/stem"
)

const (
	sketchSize = 8  // numbers that stand for a text
	titleSize  = 8  // words of a title that are compared
	alikeText  = 5  // of these numbers that two texts share which nearly are one
	minShared  = 3  // words that two titles share which are made alike
	minRun     = 20 // words of a text that its numbers mean something of

	// What is looked at, in bytes: the beginnings tell enough.
	maxTraceTitle = 1000
	maxTraceText  = 4000
)

// A trace is what is remembered of an item.
type trace struct {
	exact  uint64 // of title and text: equal ones are one item, met again
	at     int64  // Unix seconds
	sketch [sketchSize]uint32
	title  [titleSize]uint32 // hashes of its words without numbers, 0 for none
}

// seed is one for all traces of a process, which do not outlive it.
var seed = maphash.MakeSeed()

func traceOf(title, text string, at time.Time) trace {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(title)
	h.WriteByte(0)
	h.WriteString(text[:min(len(text), maxText)])
	t := trace{exact: h.Sum64(), at: at.Unix()}
	n := 0
	for _, w := range stem.Words(title[:min(len(title), maxTraceTitle)], "") {
		if n < titleSize && (w.Stem[0] < '0' || w.Stem[0] > '9') {
			hash := emptyHash
			for i := range len(w.Stem) {
				hash.add(w.Stem[i])
			}
			t.title[n] = hash.sum()
			n++
		}
	}
	t.sketch = sketchOf(text[:min(len(text), maxTraceText)])
	return t
}

// A wordHash is the FNV-1a hash of a word, byte after byte.
//
// Source: G. Fowler, L. C. Noll, K. Vo, The FNV non-cryptographic hash algorithm.
type wordHash uint32

const emptyHash wordHash = 2166136261

func (h *wordHash) add(b byte) { *h = (*h ^ wordHash(b)) * 16777619 }

// sum is never 0, which stands for no word.
func (h wordHash) sum() uint32 { return max(1, uint32(h)) }

// sketchOf returns the least hash of the runs of three words of a text, in small
// letters, under each of eight hash functions, so that two texts share as many of
// them, by chance, as they share runs; zeros if the text is too short.
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

// A sketcher makes a sketch of a text, word after word.
type sketcher struct {
	word   wordHash // the one at hand
	inside bool     // it has begun
	words  int      // before it
	run    [3]uint32
	least  [sketchSize]uint32
}

// end ends the word at hand, if there is one.
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

// copies reports whether two texts nearly are one.
func (t trace) copies(other trace) bool {
	if t.sketch[0] == 0 && t.sketch[1] == 0 {
		return false // too short
	}
	same := 0
	for i := range t.sketch {
		if t.sketch[i] == other.sketch[i] {
			same++
		}
	}
	return same >= alikeText
}

// alike reports whether two items look made by one template.
func (t trace) alike(other trace) bool {
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
	return shared >= minShared && 2*shared >= words || t.copies(other)
}
