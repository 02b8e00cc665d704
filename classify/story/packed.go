package story

import (
	"math"
	"slices"
)

// A packed is a vector in compact form: the number of terms and of distinct weights, the terms, one byte per
// term with the number of its weight, and the weights. Most events are one item, of which many terms weigh
// the same: it takes two thirds of the vector's memory, and a term lookup reads half as much. An empty vector
// is nil.
type packed []uint32

// weightsFrom is the lowest bit of the number of weights.
const weightsFrom = 16

func (p packed) len() int {
	if p == nil {
		return 0
	}
	return int(p[0] & (1<<weightsFrom - 1))
}

// terms returns the terms, sorted.
func (p packed) terms() []uint32 {
	if p == nil {
		return nil
	}
	return p[1 : 1+p.len()]
}

// weights returns the weights of the terms.
func (p packed) weights() weights {
	if p == nil {
		return weights{}
	}
	numbers := p[1+p.len():]
	return weights{numbers, numbers[(p.len()+3)/4:]}
}

// weights are the weights of a packed vector's terms.
type weights struct{ numbers, values []uint32 }

// of returns the weight of the i-th term.
func (w weights) of(i int) float32 {
	return math.Float32frombits(w.values[w.numbers[i/4]>>(i%4*8)&0xFF])
}

// size returns the number of words of a packed vector.
func (p packed) size() int { return 1 + p.len() + (p.len()+3)/4 + int(p[0]>>weightsFrom) }

// of packs a vector of at most 256 terms into p's memory.
func (p packed) of(v vector) packed {
	if len(v) == 0 {
		return nil
	}
	p = append(p[:0], uint32(len(v)))
	for _, e := range v {
		p = append(p, e.term)
	}
	numbers := len(p)
	p = append(p, make([]uint32, (len(v)+3)/4)...)
	values := len(p)
	var seen [512]uint16 // hash table of weight number + 1 with linear probing; 0 is free
	for i, e := range v {
		weight := math.Float32bits(e.weight)
		at := weight * 2654435761 >> 23
		for seen[at] != 0 && p[values+int(seen[at])-1] != weight {
			at = (at + 1) % uint32(len(seen))
		}
		if seen[at] == 0 {
			p = append(p, weight)
			seen[at] = uint16(len(p) - values)
		}
		p[numbers+i/4] |= uint32(seen[at]-1) << (i % 4 * 8)
	}
	p[0] |= uint32(len(p)-values) << weightsFrom
	return p
}

// unpack decodes the vector into v's memory and returns it.
func (p packed) unpack(v vector) vector {
	v = v[:0]
	weights := p.weights()
	for i, term := range p.terms() {
		v = append(v, entry{term, weights.of(i)})
	}
	return v
}

// has reports whether a vector contains a term.
func (p packed) has(term uint32) bool {
	_, ok := slices.BinarySearch(p.terms(), term)
	return ok
}
