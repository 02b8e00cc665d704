package model

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// An Example is an item with known categories.
type Example struct {
	ID         string // of the item
	Document   Document
	Categories []string // at least one
	Weight     float64  // number of items it counts as; 0 counts as 1; corrections by people have weight 5
}

// Correction is the weight of an example corrected by a person.
const Correction = 5.0

const (
	minExamples    = 200     // minimum for training
	maxExamples    = 200_000 // maximum of a trainer
	maxCategories  = 200
	minPerCategory = 10 // minimum examples of a category
	maxNames       = 1_000_000
	maxWeight      = 100.0
)

// ErrTooFewExamples reports that there are too few examples for training.
var ErrTooFewExamples = errors.New("too few examples")

// A Trainer collects examples and trains a model. It keeps only their features, about 200 bytes an example.
// It is not safe for concurrent use.
type Trainer struct {
	ids      map[string]int32
	names    []string
	byID     map[string]int
	examples []example
}

// NewTrainer returns a trainer without examples.
func NewTrainer() *Trainer {
	return &Trainer{ids: make(map[string]int32), byID: make(map[string]int)}
}

// Add adds an example or replaces the example with the same ID. It ignores an example without categories. It
// reports whether more examples can be added.
func (t *Trainer) Add(e Example) bool {
	i, stored := t.byID[e.ID]
	if len(e.Categories) == 0 || !stored && len(t.examples) == maxExamples {
		return len(t.examples) < maxExamples
	}
	kept := example{id: strings.Clone(e.ID), language: strings.Clone(e.Document.Language), weight: min(cmp.Or(max(e.Weight, 0), 1), maxWeight)}
	for _, c := range e.Categories {
		if !slices.Contains(kept.categories, c) {
			kept.categories = append(kept.categories, strings.Clone(c))
		}
	}
	for _, f := range features(e.Document) {
		id, is := t.ids[f.name]
		if !is {
			if len(t.names) == maxNames {
				continue
			}
			id = int32(len(t.names))
			name := strings.Clone(f.name)
			t.ids[name], t.names = id, append(t.names, name)
		}
		kept.features, kept.values = append(kept.features, id), append(kept.values, f.value)
	}
	if stored {
		t.examples[i] = kept
	} else {
		t.byID[kept.id] = len(t.examples)
		t.examples = append(t.examples, kept)
	}
	return len(t.examples) < maxExamples
}

// Len returns the number of examples.
func (t *Trainer) Len() int { return len(t.examples) }

// Train trains a model on the examples. Their order does not matter. from names their source in the metrics.
// A tenth of the examples, selected by a hash of the ID, is held out from a first model to measure it; the
// returned model is trained on all. Train returns [ErrTooFewExamples] for fewer than 200 examples or two
// categories. Equal examples give equal models on equal machines.
func (t *Trainer) Train(from string) (*Model, error) {
	all := slices.SortedFunc(slices.Values(t.examples), func(a, b example) int { return cmp.Compare(a.id, b.id) })
	categories := trainableCategories(all)
	if len(all) < minExamples || len(categories) < 2 {
		return nil, fmt.Errorf("%w: %d in %d categories of at least %d; need %d, and two categories", ErrTooFewExamples, len(all), len(categories), minPerCategory, minExamples)
	}
	t.sortNames(all)
	var kept, held []example
	for i, e := range all {
		for _, c := range e.categories {
			if k, is := slices.BinarySearch(categories, c); is {
				all[i].gold = append(all[i].gold, int32(k))
			}
		}
		if heldOut(e.id) {
			held = append(held, all[i])
		} else {
			kept = append(kept, all[i])
		}
	}
	trial := fit(kept, t.names, categories)
	m := fit(all, t.names, categories)
	m.figures = trial.measure(held, t.names)
	m.figures.Source, m.figures.Examples, m.figures.Features = from, len(all), m.names.Len()
	m.figures.count(all)
	return m, nil
}

// heldOut reports whether the example with an ID is among the held-out tenth.
func heldOut(id string) bool {
	h := fnv.New32a()
	h.Write([]byte(id))
	return h.Sum32()>>8%10 == 0 // not the bits by which tests split their data
}

// trainableCategories returns the categories with enough examples by name, at most maxCategories of the most
// frequent.
func trainableCategories(all []example) []string {
	count := make(map[string]int)
	for _, e := range all {
		for _, c := range e.categories {
			count[c]++
		}
	}
	var list []string
	for c, n := range count {
		if n >= minPerCategory {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	list = list[:min(len(list), maxCategories)]
	slices.Sort(list)
	return list
}

// sortNames renumbers features by name and updates all examples, so that sums do not depend on the order of
// the examples.
func (t *Trainer) sortNames(all []example) {
	sorted := slices.Sorted(slices.Values(t.names))
	number := make([]int32, len(sorted))
	for i, name := range sorted {
		number[t.ids[name]] = int32(i)
		t.ids[name] = int32(i)
	}
	t.names = sorted
	for _, e := range all { // all shares its slices with t.examples
		for i, id := range e.features {
			e.features[i] = number[id]
		}
	}
}
