package bleve

import (
	"cmp"
	"slices"
	"sync"

	"github.com/blevesearch/vellum/levenshtein"

	"feedmesh/classify/query"
)

const (
	maxGoingOn  = 100 // stems that the beginning of a word stands for
	maxMistaken = 20  // stems that a mistaken word stands for
)

// A nearWord is a stem that will do for another.
type nearWord struct {
	frequency
	likeness float64 // 0 to 1, by which the score is multiplied
}

// goesOn adds the most frequent stems that the last of words, which w is, may go
// on to.
func (w *word) goesOn(segs []*segment, words string) error {
	const likeness = 0.7
	begin, ends := query.Begins(words)
	fields := make([]string, len(w.fields))
	for i, field := range w.fields {
		fields[i] = field.name
	}
	most, err := beginningIn(segs, begin, maxGoingOn, fields...)
	if err != nil {
		return err
	}
	for _, stem := range ends {
		most = append(most, frequency{term: stem})
	}
	for _, one := range most {
		if one.term != w.stem {
			w.near = append(w.near, nearWord{one, likeness})
		}
	}
	return nil
}

// forgives adds the most frequent stems that differ from the word's by a mistake,
// nearest first. text is the word as it was typed.
func (w *word) forgives(segs []*segment, text string) error {
	mistakes := query.Forgives(text)
	if mistakes == 0 {
		return nil
	}
	likes, err := distances()[mistakes-1].BuildDfa(w.stem, uint8(mistakes))
	if err != nil {
		return err
	}
	found := make(frequencies)
	for _, s := range segs {
		for _, field := range w.fields {
			if err := found.walk(s, field.name, likes, ""); err != nil {
				return err
			}
		}
	}
	delete(found, w.stem)
	for _, one := range found.top(maxMistaken) {
		_, far := likes.MatchAndDistance(one.term)
		w.near = append(w.near, nearWord{one, 1 / (1 + float64(far))})
	}
	slices.SortStableFunc(w.near, func(a, b nearWord) int { return cmp.Compare(b.likeness, a.likeness) })
	return nil
}

// distances make automata for one mistake and for two, of which two letters that
// changed places are one. They take long to make, and may be used concurrently.
var distances = sync.OnceValue(func() (builders [2]*levenshtein.LevenshteinAutomatonBuilder) {
	for i := range builders {
		builder, err := levenshtein.NewLevenshteinAutomatonBuilder(uint8(i+1), true)
		if err != nil {
			panic(err) // of what is fixed here
		}
		builders[i] = builder
	}
	return builders
})
