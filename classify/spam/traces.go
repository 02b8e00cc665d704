package spam

import (
	"hash/fnv"
	"strings"
	"time"

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

func traceOf(title, text string, at time.Time) trace {
	h := fnv.New64a()
	h.Write([]byte(title))
	h.Write([]byte{0})
	h.Write([]byte(text[:min(len(text), maxText)]))
	t := trace{exact: h.Sum64(), at: at.Unix()}
	n := 0
	for _, word := range stem.List(title[:min(len(title), maxTraceTitle)], "") {
		if n < titleSize && (word[0] < '0' || word[0] > '9') {
			t.title[n] = hash32(word)
			n++
		}
	}
	t.sketch = sketchOf(strings.Fields(strings.ToLower(text[:min(len(text), maxTraceText)])))
	return t
}

func hash32(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return max(1, h.Sum32())
}

// sketchOf returns the least hash of the runs of three words under each of eight
// hash functions, so that two texts share as many of them, by chance, as they
// share runs; zeros if the text is too short.
//
// Source: A. Broder, On the resemblance and containment of documents, 1997.
func sketchOf(words []string) (least [sketchSize]uint32) {
	if len(words) < minRun {
		return least
	}
	for i := range least {
		least[i] = ^uint32(0)
	}
	var run [3]uint32
	for n, w := range words {
		run[n%3] = hash32(w)
		if n < 2 {
			continue
		}
		x := run[(n-2)%3]*0x9E3779B1 ^ run[(n-1)%3]*0x85EBCA77 ^ run[n%3]
		for i := range least {
			x = x*0xC2B2AE3D + 0x27D4EB2F
			least[i] = min(least[i], x^x>>15)
		}
	}
	return least
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
