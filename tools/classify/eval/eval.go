// Package eval measures the classifier on items with known labels. [Evaluate] runs a classifier over
// [Records] and returns a [Report] of precision, recall and related metrics; [AddExamples] adds records to a
// model trainer.
package eval

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A Case is an item with known categories, and the classifier's result.
type Case struct {
	Gold       []string // known categories, any of which is correct; items without are skipped
	Predicted  []string // best first; empty if nothing was certain enough
	MostLikely string   // highest-ranked category, even if too uncertain; may be empty
	Duration   time.Duration
}

// Metrics summarize a set of cases. Shares are between 0 and 1, and 0 if the denominator is 0.
type Metrics struct {
	Items     int     `json:"items"`
	Coverage  float64 `json:"coverage"`  // share of items with a predicted category
	Precision float64 `json:"precision"` // share of these whose best category is correct
	Top1      float64 `json:"top1"`      // share of all items whose highest-ranked category is correct
	Accuracy  float64 `json:"answered"`  // share of all items whose best prediction is correct; no prediction counts as wrong

	Micro Score `json:"micro"` // over all predictions, best or not
	Macro Score `json:"macro"` // mean over the categories that items have

	Categories []Category    `json:"categories"` // by name
	Confusions []Confusion   `json:"confused"`   // most frequent first; at most 15
	PerItem    time.Duration `json:"each"`       // mean time per item
}

// A Score is precision, recall and their harmonic mean.
type Score struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// A Category holds the metrics of one category.
type Category struct {
	Name      string `json:"name"`
	Gold      int    `json:"gold"`     // items that have it
	Labelled  int    `json:"labelled"` // of these, items with any predicted category
	Predicted int    `json:"said"`
	Correct   int    `json:"right"`
	Score
}

// A Confusion counts items of category Gold whose best prediction was another category. An item with several
// categories counts for the first.
type Confusion struct {
	Gold      string `json:"gold"`
	Predicted string `json:"said"`
	Items     int    `json:"items"`
}

const maxPairs = 15

// A Counter accumulates cases. The zero Counter is empty.
type Counter struct {
	items, covered, right, top int
	elapsed                    time.Duration
	categories                 map[string]*Category
	pairs                      map[Confusion]int
}

// Add counts a case.
func (c *Counter) Add(k Case) {
	if len(k.Gold) == 0 {
		return
	}
	if c.categories == nil {
		c.categories, c.pairs = make(map[string]*Category), make(map[Confusion]int)
	}
	c.items++
	c.elapsed += k.Duration
	if slices.Contains(k.Gold, k.MostLikely) {
		c.top++
	}
	for _, name := range k.Gold {
		at := c.category(name)
		at.Gold++
		if len(k.Predicted) > 0 {
			at.Labelled++
		}
	}
	for _, name := range k.Predicted {
		at := c.category(name)
		at.Predicted++
		if slices.Contains(k.Gold, name) {
			at.Correct++
		}
	}
	if len(k.Predicted) == 0 {
		return
	}
	c.covered++
	if slices.Contains(k.Gold, k.Predicted[0]) {
		c.right++
	} else {
		c.pairs[Confusion{Gold: k.Gold[0], Predicted: k.Predicted[0]}]++
	}
}

func (c *Counter) category(name string) *Category {
	at := c.categories[name]
	if at == nil {
		at = &Category{Name: name}
		c.categories[name] = at
	}
	return at
}

// Metrics returns the metrics of the cases added.
func (c *Counter) Metrics() Metrics {
	t := Metrics{
		Items: c.items, Coverage: share(c.covered, c.items), Precision: share(c.right, c.covered),
		Top1: share(c.top, c.items), Accuracy: share(c.right, c.items), Categories: []Category{}, Confusions: []Confusion{},
	}
	if c.items > 0 {
		t.PerItem = c.elapsed / time.Duration(c.items)
	}
	gold, predicted, right, have := 0, 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(c.categories)) {
		at := *c.categories[name]
		at.Score = score(at.Gold, at.Predicted, at.Correct)
		t.Categories = append(t.Categories, at)
		gold, predicted, right = gold+at.Gold, predicted+at.Predicted, right+at.Correct
		if at.Gold > 0 {
			have++
			t.Macro.Precision += at.Precision
			t.Macro.Recall += at.Recall
			t.Macro.F1 += at.F1
		}
	}
	t.Micro = score(gold, predicted, right)
	if have > 0 {
		t.Macro.Precision /= float64(have)
		t.Macro.Recall /= float64(have)
		t.Macro.F1 /= float64(have)
	}
	for p, n := range c.pairs {
		p.Items = n
		t.Confusions = append(t.Confusions, p)
	}
	slices.SortFunc(t.Confusions, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Gold, b.Gold), cmp.Compare(a.Predicted, b.Predicted))
	})
	t.Confusions = t.Confusions[:min(len(t.Confusions), maxPairs)]
	return t
}

func score(gold, predicted, right int) Score {
	return Score{share(right, predicted), share(right, gold), share(2*right, gold+predicted)}
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}
