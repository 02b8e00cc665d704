package main

import (
	"cmp"
	"math"
	"slices"
)

const (
	letters      = 2e6  // assumed size of lingua's training text for each language
	trust        = 8.0  // occurrences of a context from which its own counts outweigh those of a shorter one
	unseen       = 2e-5 // probability of a letter that the language does not use
	minFrequency = 2e-6 // sequences that are rarer in every language are dropped
	step         = 1.0 / 16
)

// pick returns, for the sequences that distinguish the languages best, the cost of their last letter after
// the others in each language: -ln of its probability in steps of 1/16. A dropped sequence costs as much as
// its shorter one; all single letters are kept.
func pick(languages []counts, keep int) map[sequence][]byte {
	all := probabilities(languages)
	type scored struct {
		s     sequence
		worth float64
	}
	var list []scored
	table := make(map[sequence][]byte)
	for s, p := range all {
		if s.length() == 1 {
			table[s] = costs(p)
			continue
		}
		list = append(list, scored{s, worth(s, p, all[s.shorter()], languages)})
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.s, b.s))
	})
	for _, e := range list[:min(keep, len(list))] {
		// The shorter sequences are kept too, so that a lookup can stop at the first missing one.
		for s := e.s; s != 0; s = s.shorter() {
			table[s] = costs(all[s])
		}
	}
	return table
}

// worth returns the differences between the languages in the cost of s relative to its shorter sequence,
// weighted by frequency.
func worth(s sequence, p, shorter []float64, languages []counts) float64 {
	mean := 0.0
	gain := make([]float64, len(p))
	for l := range p {
		gain[l] = math.Log(p[l]) - math.Log(shorter[l])
		mean += gain[l] / float64(len(p))
	}
	sum := 0.0
	for l, c := range languages {
		sum += c[s] * math.Abs(gain[l]-mean)
	}
	return sum
}

// probabilities returns, for each sequence that is not too rare, the probability of its last letter in each
// language.
func probabilities(languages []counts) map[sequence][]float64 {
	all := make(map[sequence][]float64)
	for _, c := range languages {
		for s, n := range c {
			if n >= minFrequency {
				for s := s; s != 0; s = s.shorter() {
					all[s] = nil
				}
			}
		}
	}
	order := make([]sequence, 0, len(all))
	for s := range all {
		order = append(order, s)
		all[s] = make([]float64, len(languages))
	}
	slices.SortFunc(order, func(a, b sequence) int { return cmp.Compare(a.length(), b.length()) })
	for l, c := range languages {
		after := make(counts) // frequency of a context, summed over the letters after it
		for s, n := range c {
			after[s.context()] += n
		}
		for _, s := range order {
			lower := unseen
			if s.length() > 1 {
				lower = all[s.shorter()][l]
			}
			all[s][l] = (letters*c[s] + trust*lower) / (letters*after[s.context()] + trust)
		}
	}
	return all
}

func costs(p []float64) []byte {
	b := make([]byte, len(p))
	for l := range p {
		b[l] = byte(min(255, math.Round(-math.Log(p[l])/step)))
	}
	return b
}
