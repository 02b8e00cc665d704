// Package eval says how well items were classified whose categories are known.
package eval

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A Case is an item whose categories are known, and what was said of it.
type Case struct {
	Gold  []string // any of them is right; items without are left out
	Said  []string // best first; none if nothing was sure enough
	First string   // the likeliest, sure enough or not; may be empty
	Took  time.Duration
}

// A Table is the figures of a set of cases. Shares are between 0 and 1, and 0
// where there is nothing to take them of.
type Table struct {
	Items     int     `json:"items"`
	Coverage  float64 `json:"coverage"`  // share of items of which anything was said
	Precision float64 `json:"precision"` // share of these whose best category is right
	Top1      float64 `json:"top1"`      // share of all items whose likeliest category is right
	Answered  float64 `json:"answered"`  // the same, with what was said alone: silence is wrong

	Micro Score `json:"micro"` // of all that was said, best or not
	Macro Score `json:"macro"` // mean of the categories that items have

	Categories []Category    `json:"categories"` // by name
	Confused   []Pair        `json:"confused"`   // the commonest first; at most 15
	Each       time.Duration `json:"each"`       // mean time of an item
}

// A Score is precision, recall and their harmonic mean.
type Score struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// A Category is the figures of one, wherever it was said.
type Category struct {
	Name  string `json:"name"`
	Gold  int    `json:"gold"` // items that have it
	Said  int    `json:"said"`
	Right int    `json:"right"`
	Score
}

// A Pair says how often an item of one category had another said first. Where an
// item has several, it counts for the first of them.
type Pair struct {
	Gold  string `json:"gold"`
	Said  string `json:"said"`
	Items int    `json:"items"`
}

const maxPairs = 15

// A Counter adds up cases. The zero Counter has none.
type Counter struct {
	items, covered, right, top int
	took                       time.Duration
	categories                 map[string]*Category
	pairs                      map[Pair]int
}

// Add counts a case.
func (c *Counter) Add(k Case) {
	if len(k.Gold) == 0 {
		return
	}
	if c.categories == nil {
		c.categories, c.pairs = make(map[string]*Category), make(map[Pair]int)
	}
	c.items++
	c.took += k.Took
	if slices.Contains(k.Gold, k.First) {
		c.top++
	}
	for _, name := range k.Gold {
		c.category(name).Gold++
	}
	for _, name := range k.Said {
		at := c.category(name)
		at.Said++
		if slices.Contains(k.Gold, name) {
			at.Right++
		}
	}
	if len(k.Said) == 0 {
		return
	}
	c.covered++
	if slices.Contains(k.Gold, k.Said[0]) {
		c.right++
	} else {
		c.pairs[Pair{Gold: k.Gold[0], Said: k.Said[0]}]++
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

// Table returns the figures of the cases so far.
func (c *Counter) Table() Table {
	t := Table{
		Items: c.items, Coverage: share(c.covered, c.items), Precision: share(c.right, c.covered),
		Top1: share(c.top, c.items), Answered: share(c.right, c.items), Categories: []Category{}, Confused: []Pair{},
	}
	if c.items > 0 {
		t.Each = c.took / time.Duration(c.items)
	}
	gold, said, right, have := 0, 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(c.categories)) {
		at := *c.categories[name]
		at.Score = score(at.Gold, at.Said, at.Right)
		t.Categories = append(t.Categories, at)
		gold, said, right = gold+at.Gold, said+at.Said, right+at.Right
		if at.Gold > 0 {
			have++
			t.Macro.Precision += at.Precision
			t.Macro.Recall += at.Recall
			t.Macro.F1 += at.F1
		}
	}
	t.Micro = score(gold, said, right)
	if have > 0 {
		t.Macro.Precision /= float64(have)
		t.Macro.Recall /= float64(have)
		t.Macro.F1 /= float64(have)
	}
	for p, n := range c.pairs {
		p.Items = n
		t.Confused = append(t.Confused, p)
	}
	slices.SortFunc(t.Confused, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Gold, b.Gold), cmp.Compare(a.Said, b.Said))
	})
	t.Confused = t.Confused[:min(len(t.Confused), maxPairs)]
	return t
}

func score(gold, said, right int) Score {
	return Score{share(right, said), share(right, gold), share(2*right, gold+said)}
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}
