package story

import "slices"

// An entry is a term and its weight.
type entry struct {
	term   uint32
	weight float32
}

// A vector is entries sorted by term, each term once.
type vector []entry

// maxTerms is the number of terms kept in a vector.
const maxTerms = 128

// A product is the dot product of two vectors, by the kind of their terms.
type product [kinds]float64

func (p *product) add(t uint32, x float64) { p[kindOf(t)] += x }

// all returns the product of all terms.
func (p *product) all() float64 { return p[isWord] + p[isPair] + p[isNumber] + p[isName] }

// plus sets sum to a + factor*b and returns it.
func (sum vector) plus(a, b vector, factor float32) vector {
	sum = sum[:0]
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i].term < b[j].term:
			sum = append(sum, a[i])
			i++
		case a[i].term > b[j].term:
			sum = append(sum, entry{b[j].term, b[j].weight * factor})
			j++
		default:
			sum = append(sum, entry{a[i].term, a[i].weight + float32(b[j].weight*factor)})
			i++
			j++
		}
	}
	sum = append(sum, a[i:]...)
	for _, e := range b[j:] {
		sum = append(sum, entry{e.term, e.weight * factor})
	}
	return sum
}

// A query is a vector to compare with others, and cached data of its terms, valid while the index is
// unchanged.
type query struct {
	terms   []uint32
	weights []float32
	rows    []row
	have    []uint32
	idf     []float64
	squares []float64           // of idf
	square  product             // of the vector with itself
	places  [queryPlaces]uint16 // hash table of index in terms + 1, with linear probing; 0 is free
}

// queryPlaces is a power of two, several times the maximum terms of a vector.
const queryPlaces = 1024

// queryVector sets q to the vector of an item.
func (x *index) queryVector(q *query, v vector) {
	q.terms, q.weights = q.terms[:0], q.weights[:0]
	for _, e := range v {
		q.terms, q.weights = append(q.terms, e.term), append(q.weights, e.weight)
	}
	x.begin(q)
}

// queryStored sets q to a stored vector.
func (x *index) queryStored(q *query, p packed) {
	q.terms, q.weights = append(q.terms[:0], p.terms()...), q.weights[:0]
	weights := p.weights()
	for i := range q.terms {
		q.weights = append(q.weights, weights.of(i))
	}
	x.begin(q)
}

// begin computes the data of a query's terms.
func (x *index) begin(q *query) {
	if x.stale {
		x.build()
	}
	q.idf, q.squares, q.square = q.idf[:0], q.squares[:0], product{}
	q.rows, q.have = x.findRows(q.terms, q.rows, q.have)
	clear(q.places[:])
	for i, term := range q.terms {
		q.places[q.place(term)] = uint16(i + 1)
		idf := x.idf(term, q.have[i])
		q.idf, q.squares = append(q.idf, idf), append(q.squares, float64(idf*idf))
		weight := float64(q.weights[i])
		q.square.add(term, float64(weight*weight)*q.squares[i])
	}
}

// findRows returns the rows of terms, in rows' memory, and the number of events with each, in have's memory. It
// overlaps the cache misses.
func (x *index) findRows(terms []uint32, rows []row, have []uint32) ([]row, []uint32) {
	x.touched += x.touch(terms)
	rows, have = rows[:0], have[:0]
	for _, term := range terms {
		r := row{}
		if found := x.find(term); found != nil {
			r = *found
		}
		rows = append(rows, r)
	}
	for _, r := range rows {
		have = append(have, x.count(r))
	}
	return rows, have
}

// square returns the dot product of a vector with itself, weighted by idf. Products are rounded before they
// are added, so that all machines agree.
func (x *index) square(v packed) product {
	var p product
	weights := v.weights()
	x.rows, x.haves = x.findRows(v.terms(), x.rows, x.haves)
	for i, term := range v.terms() {
		idf, weight := x.idf(term, x.haves[i]), float64(weights.of(i))
		p.add(term, float64(float64(weight*weight)*float64(idf*idf)))
	}
	return p
}

// place returns the slot of a term in places, or a free slot.
func (q *query) place(t uint32) uint32 {
	at := (t >> kindBits) % queryPlaces
	for q.places[at] != 0 && q.terms[q.places[at]-1] != t {
		at = (at + 1) % queryPlaces
	}
	return at
}

// heaviest returns the max heaviest terms of a vector, of equal weights the first, in newly allocated memory
// if any is removed. It ignores idf, which changes: a restored event must get the same vector. The order is
// kept.
func (v vector) heaviest(max int) vector {
	if len(v) <= max {
		return v
	}
	weights := make([]float32, len(v))
	for i, e := range v {
		weights[i] = e.weight
	}
	slices.Sort(weights)
	least := weights[len(v)-max]
	equal := max // remaining entries of least weight
	for _, w := range weights[len(v)-max:] {
		if w > least {
			equal--
		}
	}
	list := make(vector, 0, max)
	for _, e := range v {
		if e.weight == least {
			equal--
		}
		if e.weight > least || e.weight == least && equal >= 0 {
			list = append(list, e)
		}
	}
	return list
}
