package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"feedmesh/classify/stem"
)

// A vector maps terms to weights.
type vector []weighed

type weighed struct {
	term   int
	weight float64
}

// A counter counts the items that contain each term.
type counter struct {
	ids   map[string]int
	df    []int
	items int
}

// count returns the term frequencies of an item.
func (c *counter) count(item Record) map[int]int {
	if c.ids == nil {
		c.ids = make(map[string]int)
	}
	c.items++
	counts := make(map[int]int)
	for _, w := range stem.Stems(item.Title+"\n"+item.Text, item.Language) {
		id, ok := c.ids[w]
		if !ok {
			id = len(c.df)
			c.ids[w] = id
			c.df = append(c.df, 0)
		}
		if counts[id]++; counts[id] == 1 {
			c.df[id]++
		}
	}
	return counts
}

// vector returns the tf*idf vector of an item, and counts the item: tf is 1/2 + 1/2*f/maxf, where maxf is the
// frequency of its most frequent term, and idf is log(N/df) of the items so far.
//
// Source: source 3; G. Salton, C. Buckley, Term-weighting approaches, 1988.
func (c *counter) vector(item Record) vector { return c.weigh(c.count(item)) }

func (c *counter) weigh(counts map[int]int) vector {
	maxf := 0
	for _, f := range counts {
		maxf = max(maxf, f)
	}
	v := make(vector, 0, len(counts))
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		tf := 0.5 + 0.5*float64(counts[id])/float64(maxf)
		v = append(v, weighed{id, tf * math.Log(float64(c.items)/float64(c.df[id]))})
	}
	return v
}

// vectors returns the tf*idf vectors of items, each of length 1, with the idf of all items.
func vectors(items []Record) []vector {
	var c counter
	counts := make([]map[int]int, len(items))
	for i, item := range items {
		counts[i] = c.count(item)
	}
	list := make([]vector, len(items))
	for i := range counts {
		list[i] = c.weigh(counts[i]).unit()
	}
	return list
}

// unit returns v scaled to length 1, or v if its length is 0.
func (v vector) unit() vector {
	length := math.Sqrt(v.dot(v))
	if length == 0 {
		return v
	}
	u := slices.Clone(v)
	for i := range u {
		u[i].weight /= length
	}
	return u
}

func (v vector) dot(w vector) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(v) && j < len(w); {
		switch {
		case v[i].term < w[j].term:
			i++
		case v[i].term > w[j].term:
			j++
		default:
			sum += float64(v[i].weight * w[j].weight)
			i++
			j++
		}
	}
	return sum
}

func (v vector) plus(w vector) vector {
	sum := make(vector, 0, len(v)+len(w))
	i, j := 0, 0
	for i < len(v) || j < len(w) {
		switch {
		case j == len(w) || i < len(v) && v[i].term < w[j].term:
			sum = append(sum, v[i])
			i++
		case i == len(v) || v[i].term > w[j].term:
			sum = append(sum, w[j])
			j++
		default:
			sum = append(sum, weighed{v[i].term, v[i].weight + w[j].weight})
			i++
			j++
		}
	}
	return sum
}

// heaviest returns the n heaviest terms.
func (v vector) heaviest(n int) []int {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
	})
	terms := make([]int, min(n, len(v)))
	for i := range terms {
		terms[i] = v[i].term
	}
	return terms
}
