package story

import (
	"math"
	"time"
)

// HalfLife is how long it takes a source to count half of one that comes now.
const HalfLife = 6 * time.Hour

// RepeatWeight is what a source counts that only says what others said.
const RepeatWeight = 0.3

// Heat is how much a story is told, by how many sources and how lately: the
// logarithm to base 2 of the sum of weight * 2^(time/HalfLife) over its sources.
// It decays forward: what comes later counts more, so that the order of two stories
// does not change between arrivals. One more is twice the sources, or the same ones
// six hours later. Minus infinity is a story without sources.
//
// Source: G. Cormode et al., Forward decay, 2009.
type Heat float64

// Cold is the heat of a story without sources.
var Cold = Heat(math.Inf(-1))

// epoch is when the time that heat counts begins; any would do, but what is stored
// needs one.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Warm returns the heat with one more source: the first item of a source in a
// story, not its later ones, for weight; and for weight * [RepeatWeight] if that
// item says only what another did. A weight of 0 or less adds nothing.
func (h Heat) Warm(weight float64, seen time.Time) Heat {
	if !(weight > 0) {
		return h
	}
	return h.plus(Heat(math.Log2(weight) + float64(seen.Sub(epoch))/float64(HalfLife)))
}

// plus returns the heat of two sets of sources.
func (h Heat) plus(other Heat) Heat {
	if other > h {
		h, other = other, h
	}
	if math.IsInf(float64(other), -1) {
		return h
	}
	return h + Heat(math.Log2(1+math.Exp2(float64(other-h))))
}

// A Telling is an item of a story, for its heat.
type Telling struct {
	Source  string // feed or host
	Weight  float64
	Seen    time.Time
	Repeats bool
}

// HeatOf returns the heat of a story, from its items in the order in which they
// came.
func HeatOf(items []Telling) Heat {
	h := Cold
	known := make(map[string]bool)
	for _, item := range items {
		if known[item.Source] {
			continue
		}
		known[item.Source] = true
		weight := item.Weight
		if item.Repeats {
			weight *= RepeatWeight
		}
		h = h.Warm(weight, item.Seen)
	}
	return h
}

const (
	clickWeight = 0.5 // heat of twice the clicks
	burstWeight = 0.5 // heat of a burst
)

// Rank returns the number by which stories are ordered, the greatest first: heat,
// what readers click, and whether it comes in a burst.
func Rank(h Heat, clicks int, burst bool) float64 {
	rank := float64(h) + clickWeight*math.Log2(1+float64(max(0, clicks)))
	if burst {
		rank += burstWeight
	}
	return rank
}

// ReachSources is how many sources make a story one that others tell too, for
// [SourceWeight].
const ReachSources = 3

const (
	priorShare  = 0.25 // of a source's items that are in such stories, before we know
	priorItems  = 20   // how many items that is worth
	worstWeight = 0.25
)

// SourceWeight returns what a source counts, from 0.25 to 3.25: by how many of
// its items were in stories that reached three sources, of how many in all. 1 is a
// source of which nothing is known.
func SourceWeight(reached, items int) float64 {
	share := (float64(reached) + priorShare*priorItems) / (float64(items) + priorItems)
	return worstWeight + (1-worstWeight)*share/priorShare
}
