package story

import (
	"cmp"
	"math"
	"slices"
)

// An entry is how much of a term a vector has.
type entry struct {
	term   uint32
	weight float32
}

// A vector is entries by term, each term once.
type vector []entry

// maxTerms is how many terms a centroid keeps.
const maxTerms = 200

// A product is what two vectors have in common: in all, and of names.
type product struct{ all, names float64 }

func (p *product) add(k kind, x float64) {
	p.all += x
	if k == isName {
		p.names += x
	}
}

// dot returns the product of two vectors of which each term weighs as the index
// says. Products are rounded before they are added, so that all machines agree.
func (x *index) dot(a, b vector) product {
	var p product
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch ta, tb := a[i].term, b[j].term; {
		case ta < tb:
			i++
		case ta > tb:
			j++
		default:
			idf := x.idf(ta)
			p.add(x.kinds[ta], float64(float64(float64(a[i].weight)*float64(b[j].weight))*float64(idf*idf)))
			i++
			j++
		}
	}
	return p
}

// square returns the product of a vector with itself.
func (x *index) square(a vector) product {
	var p product
	for _, e := range a {
		at := float64(float64(e.weight) * x.idf(e.term))
		p.add(x.kinds[e.term], float64(at*at))
	}
	return p
}

// cosines returns the cosine of two vectors, and that of their names alone: the
// former where one has no names, which then tell nothing. Both are 0 if either
// vector is empty.
func (x *index) cosines(a, b vector, squareA, squareB product) product {
	var p product
	if squareA.all == 0 || squareB.all == 0 {
		return p
	}
	dot := x.dot(a, b)
	p.all = dot.all / math.Sqrt(float64(squareA.all*squareB.all))
	p.names = p.all
	if squareA.names > 0 && squareB.names > 0 {
		p.names = dot.names / math.Sqrt(float64(squareA.names*squareB.names))
	}
	return p
}

// plus returns a + factor*b, of at most max terms: those that weigh most.
func (x *index) plus(a, b vector, factor float64, max int) vector {
	sum := make(vector, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i].term < b[j].term:
			sum = append(sum, a[i])
			i++
		case i == len(a) || a[i].term > b[j].term:
			sum = append(sum, entry{b[j].term, float32(float64(b[j].weight) * factor)})
			j++
		default:
			sum = append(sum, entry{a[i].term, a[i].weight + float32(float64(b[j].weight)*factor)})
			i++
			j++
		}
	}
	return x.heaviest(sum, max)
}

// heaviest returns the max terms of a vector that weigh most, in a vector of its
// own if any goes. It finds what the least of them weighs, and keeps the order.
func (x *index) heaviest(v vector, max int) vector {
	if len(v) <= max {
		return v
	}
	weights := make([]float64, len(v))
	for i, e := range v {
		weights[i] = float64(float64(e.weight) * x.idf(e.term))
	}
	sorted := slices.Sorted(slices.Values(weights))
	least := sorted[len(v)-max]
	equal := max // how many that weigh the least there is room for
	for _, w := range sorted[len(v)-max:] {
		if w > least {
			equal--
		}
	}
	list := make(vector, 0, max)
	for i, e := range v {
		if weights[i] == least {
			equal--
		}
		if weights[i] > least || weights[i] == least && equal >= 0 {
			list = append(list, e)
		}
	}
	return list
}

// A heavy entry is one with what it weighs in all.
type heavy struct {
	weight float64
	entry
}

func heavier(a, b heavy) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
}
