package model

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// An Example is an item whose categories are known.
type Example struct {
	ID         string // the item's
	Document   Document
	Categories []string // at least one
	Weight     float64  // how many items it stands for; 0 is 1, and people's corrections weigh 5
}

// Correction is the weight of an example that a person corrected.
const Correction = 5.0

const (
	minExamples   = 200     // fewer teach nothing
	maxExamples   = 200_000 // that a trainer takes
	maxCategories = 200
	leastOf       = 10 // examples that a category is learned from
	maxNames      = 1_000_000
	maxWeight     = 100.0
)

// ErrFew means that there are too few examples to learn from.
var ErrFew = errors.New("too few examples")

// A Trainer takes examples one by one and makes a model of them. It holds their
// features only: some 200 bytes an example. It must not be used concurrently.
type Trainer struct {
	ids      map[string]int32
	names    []string
	byID     map[string]int
	examples []example
}

// An example is what a trainer keeps of one.
type example struct {
	id         string
	features   []int32
	values     []uint8 // as many
	categories []string
	weight     float64
	gold       []int32 // categories by number, while learning
}

// NewTrainer returns a trainer without examples.
func NewTrainer() *Trainer {
	return &Trainer{ids: make(map[string]int32), byID: make(map[string]int)}
}

// Add takes an example, in place of one with the same ID. It does nothing with
// one that has no category, and reports whether there is room for more.
func (t *Trainer) Add(e Example) bool {
	i, known := t.byID[e.ID]
	if len(e.Categories) == 0 || !known && len(t.examples) == maxExamples {
		return len(t.examples) < maxExamples
	}
	kept := example{id: strings.Clone(e.ID), weight: min(cmp.Or(max(e.Weight, 0), 1), maxWeight)}
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
	if known {
		t.examples[i] = kept
	} else {
		t.byID[kept.id] = len(t.examples)
		t.examples = append(t.examples, kept)
	}
	return len(t.examples) < maxExamples
}

// Len returns how many examples t has.
func (t *Trainer) Len() int { return len(t.examples) }

// Train makes a model of the examples, whatever their order was. from says where
// they are from, for the figures. A tenth of them, told by a hash of their IDs,
// is held out while a first model learns from the others, and gives the figures;
// the model returned has learned from all. It returns [ErrFew] for fewer than 200
// examples or two categories. Equal examples give equal models on equal machines.
func (t *Trainer) Train(from string) (*Model, error) {
	all := slices.SortedFunc(slices.Values(t.examples), func(a, b example) int { return cmp.Compare(a.id, b.id) })
	categories := learnable(all)
	if len(all) < minExamples || len(categories) < 2 {
		return nil, fmt.Errorf("%w: %d in %d categories that have %d; it takes %d, and two categories", ErrFew, len(all), len(categories), leastOf, minExamples)
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
	m.figures.From, m.figures.Examples, m.figures.Features = from, len(all), m.names.Len()
	m.figures.count(all)
	return m, nil
}

// heldOut reports whether the example with an ID is of the tenth that measures.
func heldOut(id string) bool {
	h := fnv.New32a()
	h.Write([]byte(id))
	return h.Sum32()>>8%10 == 0 // not the bits that tests split their data by
}

// learnable returns the categories with enough examples, by name; the commonest
// ones if there are too many.
func learnable(all []example) []string {
	count := make(map[string]int)
	for _, e := range all {
		for _, c := range e.categories {
			count[c]++
		}
	}
	var list []string
	for c, n := range count {
		if n >= leastOf {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	list = list[:min(len(list), maxCategories)]
	slices.Sort(list)
	return list
}

// sortNames gives features their numbers by name, and sorts those of each
// example: sums must not depend on which example came first.
func (t *Trainer) sortNames(all []example) {
	sorted := slices.Sorted(slices.Values(t.names))
	number := make([]int32, len(sorted))
	for i, name := range sorted {
		number[t.ids[name]] = int32(i)
		t.ids[name] = int32(i)
	}
	t.names = sorted
	for _, e := range all { // the lists are those of t.examples
		for i, id := range e.features {
			e.features[i] = number[id]
		}
	}
}
