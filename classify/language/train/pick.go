package main

import (
	"cmp"
	"math"
	"slices"
)

const (
	letters = 2e6  // of each language that lingua's tables are taken to come from
	trust   = 8.0  // occurrences of a context after which its own figures outweigh those of a shorter one
	unseen  = 2e-5 // probability of a letter the language does not have
	seldom  = 2e-6 // sequences that occur less often in every language are left out
	step    = 1.0 / 16
)

// pick returns, for the sequences that tell the languages apart best, what
// their last letter costs after those before it in each language: -ln of its
// probability in steps of 1/16. A sequence that is left out costs what its
// shorter one does; all single letters are there.
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
		// With a sequence come its shorter ones, so that looking them up can
		// stop at the first that is missing.
		for s := e.s; s != 0; s = s.shorter() {
			table[s] = costs(all[s])
		}
	}
	return table
}

// worth says by how much the languages differ in what s costs beyond its
// shorter sequence, weighed by how often it occurs.
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

// probabilities returns, for each sequence that is not too rare, the
// probability of its last letter in each language.
func probabilities(languages []counts) map[sequence][]float64 {
	all := make(map[sequence][]float64)
	for _, c := range languages {
		for s, n := range c {
			if n >= seldom {
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
		after := make(counts) // how often a context occurs, with whatever letter after it
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
