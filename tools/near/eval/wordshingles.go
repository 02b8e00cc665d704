package eval

import (
	"strings"
	"unicode"

	"feedmesh/classify/text"
)

// A Set is the set of distinct word shingles of a text.
type Set map[string]bool

// WordShingles returns the set of runs of w words of a text. If bounded, no run crosses punctuation. It
// panics if w < 1.
//
// Source: source 3, method A. Its example holds only if bounded.
func WordShingles(plain string, w int, bounded bool) Set {
	if w < 1 {
		panic("eval: WordShingles of no words")
	}
	set := make(Set)
	for _, clause := range clauses(plain, bounded) {
		for i := range len(clause) - w + 1 {
			set[strings.Join(clause[i:i+w], " ")] = true
		}
	}
	return set
}

// clauses returns the words of a text, split at punctuation if bounded.
func clauses(plain string, bounded bool) [][]string {
	var all [][]string
	var clause []string
	end := 0
	for _, w := range text.Words(plain) {
		if bounded && strings.ContainsFunc(plain[end:w.Start], unicode.IsPunct) {
			all, clause = append(all, clause), nil
		}
		clause = append(clause, w.Text)
		end = w.End
	}
	return append(all, clause)
}

// Resemblance returns the Jaccard coefficient of two sets; 0 if both are empty.
func Resemblance(a, b Set) float64 {
	common := a.common(b)
	if all := len(a) + len(b) - common; all > 0 {
		return float64(common) / float64(all)
	}
	return 0
}

// Containment returns the share of a's elements that b contains; 0 if a is empty.
func Containment(a, b Set) float64 {
	if len(a) == 0 {
		return 0
	}
	return float64(a.common(b)) / float64(len(a))
}

func (s Set) common(other Set) (n int) {
	for k := range s {
		if other[k] {
			n++
		}
	}
	return n
}

// ResemblanceByLength returns the resemblance of two texts for each shingle length from from to upto words.
// Source 3 repeats method A with longer chains: the longer the chains that still agree, the likelier the
// texts are copies.
func ResemblanceByLength(a, b string, from, upto int, bounded bool) []float64 {
	var list []float64
	for w := from; w <= upto; w++ {
		list = append(list, Resemblance(WordShingles(a, w, bounded), WordShingles(b, w, bounded)))
	}
	return list
}
