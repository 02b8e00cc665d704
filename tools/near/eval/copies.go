package eval

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"feedmesh/classify/near"
)

// Copies reports how well a method finds the copies in labelled groups.
type Copies struct {
	Method    string             `json:"method"`
	Threshold float64            `json:"threshold"`
	Relations map[string]float64 `json:"relations"` // by kind of copy: share found
	Found     int                `json:"found"`     // copies found
	Copies    int                `json:"copies"`    // copies in total
	Precision float64            `json:"precision"` // of the pairs compared
	Recall    float64            `json:"recall"`    // share of copies found
	F1        float64            `json:"f1"`
	False     int                `json:"false"`      // pairs of different items of one feed classified as duplicates
	Pairs     int                `json:"pairs"`      // pairs of different items of one feed in total
	FalseRate float64            `json:"false_rate"` // False over Pairs
	Item      time.Duration      `json:"item"`       // to prepare one item, in nanoseconds
	Pair      time.Duration      `json:"pair"`       // to compare two items; for an index, to place one
}

// A duo is a pair of indexes in a list of items and their relation; "" for different items of one feed.
type duo struct {
	a, b     int
	relation string
}

// duos returns the pairs to judge: each copy with the original of its group (the first item where no original
// is labelled), and all pairs of different items of one feed.
func duos(items []Item) []duo {
	originals := make(map[string]int)
	for i, item := range items {
		if j, ok := originals[item.Group]; !ok || item.Relation == original && items[j].Relation != original {
			originals[item.Group] = i
		}
	}
	feeds := make(map[string]string) // of the original of each group
	for group, i := range originals {
		feeds[group] = items[i].Feed
	}
	var list []duo
	for i, a := range items {
		if o := originals[a.Group]; o != i {
			list = append(list, duo{i, o, cmp.Or(a.Relation, "copy")})
		}
		for j, b := range items[:i] {
			if a.Group != b.Group && feeds[a.Group] == feeds[b.Group] {
				list = append(list, duo{i, j, ""})
			}
		}
	}
	return list
}

const original = "original"

// half returns the items of the test or train half.
func half(items []Item, test bool) []Item {
	return slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return i.Test != test })
}

// MaxFalse is the maximum false rate of a tuned threshold: the share of different items of one feed that it
// classifies as duplicates.
const MaxFalse = 0.0025

// CompareCopies evaluates each method on the copies of the test half, one pair at a time: at the threshold of
// its source, and at the least threshold that keeps its false rate within [MaxFalse] on the train half.
func CompareCopies(items []Item, methods []Method) []Copies {
	train, test := half(items, false), half(items, true)
	var all []Copies
	for _, m := range methods {
		labels, scores, _ := m.scores(train)
		tuned := threshold(labels, scores)
		labels, scores, cost := m.scores(test)
		for _, c := range []Copies{count(labels, scores, m.Name, m.Threshold), count(labels, scores, m.Name+", tuned", tuned)} {
			c.Item, c.Pair = cost.item, cost.pair
			if c.Method == m.Name || m.Threshold < 1 {
				all = append(all, c)
			}
		}
	}
	return all
}

// A cost is the mean time of a method.
type cost struct{ item, pair time.Duration }

// scores computes the scores of all pairs of items.
func (m Method) scores(items []Item) ([]duo, []float64, cost) {
	var c cost
	began := time.Now()
	prepared := make([]any, len(items))
	for i, item := range items {
		prepared[i] = m.Prepare(item)
	}
	c.item = time.Since(began) / time.Duration(max(1, len(items)))
	list := duos(items)
	scores := make([]float64, len(list))
	began = time.Now()
	for i, d := range list {
		scores[i] = m.Score(prepared[d.a], prepared[d.b], items[d.a].Feed == items[d.b].Feed)
	}
	c.pair = time.Since(began) / time.Duration(max(1, len(list)))
	return list, scores, c
}

// threshold returns the least score that keeps the false rate within MaxFalse.
func threshold(list []duo, scores []float64) float64 {
	var wrong []float64
	for i, d := range list {
		if d.relation == "" {
			wrong = append(wrong, scores[i])
		}
	}
	slices.Sort(wrong)
	slices.Reverse(wrong)
	allowed := int(MaxFalse * float64(len(wrong)))
	bar := 0.0
	if allowed < len(wrong) {
		bar = wrong[allowed]
	}
	least := 1.0
	for _, s := range scores {
		if s > bar {
			least = min(least, s)
		}
	}
	return least
}

func count(list []duo, scores []float64, name string, threshold float64) Copies {
	c := Copies{Method: name, Threshold: threshold}
	made, found := make(map[string]int), make(map[string]int)
	for i, d := range list {
		same := scores[i] >= threshold
		if d.relation == "" {
			c.Pairs++
			c.False += number(same)
			continue
		}
		made[d.relation]++
		found[d.relation] += number(same)
		c.Copies++
		c.Found += number(same)
	}
	c.Relations = make(map[string]float64)
	for relation, n := range made {
		c.Relations[relation] = float64(found[relation]) / float64(n)
	}
	c.sum()
	return c
}

func (c *Copies) sum() {
	c.Recall, c.FalseRate = share(c.Found, c.Copies), share(c.False, c.Pairs)
	c.Precision = share(c.Found, c.Found+c.False)
	if c.Precision+c.Recall > 0 {
		c.F1 = 2 * c.Precision * c.Recall / (c.Precision + c.Recall)
	}
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }

// PlaceCopies evaluates an index that receives the items of a half in the given order. A copy is found if it
// has the same original as the original of its group. It also returns the misclassified pairs.
func PlaceCopies(items []Item, s near.Settings, test bool) (Copies, [][2]Item) {
	items = half(items, test)
	x := near.NewIndex(s)
	kinds := make([]string, len(items))
	var c cost
	for i, item := range items {
		began := time.Now()
		mark := item.mark(&s)
		made := time.Now()
		kinds[i] = cmp.Or(x.Place(mark).DuplicateOf, item.ID)
		c.item += made.Sub(began)
		c.pair += time.Since(made)
	}
	list := duos(items)
	scores := make([]float64, len(list))
	var wrong [][2]Item
	for i, d := range list {
		scores[i] = float64(number(kinds[d.a] == kinds[d.b]))
		if (scores[i] == 1) != (d.relation != "") {
			wrong = append(wrong, [2]Item{items[d.a], items[d.b]})
		}
	}
	found := count(list, scores, "ours, placed in turn", 1)
	found.Item, found.Pair = c.item/time.Duration(max(1, len(items))), c.pair/time.Duration(max(1, len(items)))
	return found, wrong
}

// RelationNames returns the kinds of copies, sorted.
func RelationNames(all []Copies) []string {
	names := make(map[string]bool)
	for _, c := range all {
		for name := range c.Relations {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
