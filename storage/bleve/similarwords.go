package bleve

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/blevesearch/vellum/levenshtein"

	"feedmesh/classify/query"
)

const (
	maxGoingOn  = 100 // stems for the prefix of a word
	maxMistaken = 20  // stems for a misspelled word
)

// addCompletions adds the most frequent stems that start with w, the last of words.
func (w *word) addCompletions(ctx context.Context, segs []*segment, words string) error {
	const likeness = 0.7
	begin, ends := query.PrefixStems(words)
	fields := make([]string, len(w.fields))
	for i, field := range w.fields {
		fields[i] = field.name
	}
	most, err := beginningIn(ctx, segs, begin, maxGoingOn, fields...)
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

// addMisspellings adds the most frequent stems within the edit distance of the word, nearest first. text is the word
// as typed.
func (w *word) addMisspellings(ctx context.Context, segs []*segment, text string) error {
	mistakes := query.MaxEdits(text)
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
			if err := found.walk(ctx, s, field.name, likes, ""); err != nil {
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

// distances are builders of automata for one and two edits; a transposition is one edit. They are expensive
// to make, cached, and safe for concurrent use.
var distances = sync.OnceValue(func() (builders [2]*levenshtein.LevenshteinAutomatonBuilder) {
	for i := range builders {
		builder, err := levenshtein.NewLevenshteinAutomatonBuilder(uint8(i+1), true)
		if err != nil {
			panic(err) // constant arguments
		}
		builders[i] = builder
	}
	return builders
})
