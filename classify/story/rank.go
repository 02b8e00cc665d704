package story

import (
	"math"
	"time"
)

// HalfLife is the time in which the weight of a source halves relative to a new source.
const HalfLife = 6 * time.Hour

// RepeatWeight is the weight of a source that only duplicates others.
const RepeatWeight = 0.3

// HotScore measures how many sources carry a story and how recently: the logarithm to base 2 of the sum of
// weight * 2^(time/HalfLife) over its sources. It decays forward: later sources count more, so the order of
// two stories does not change between arrivals. A difference of 1 is twice the sources, or the same sources
// six hours later. Minus infinity is a story without sources.
//
// Source: G. Cormode et al., Forward decay, 2009.
type HotScore float64

// EmptyHotScore is the score of a story without sources.
var EmptyHotScore = HotScore(math.Inf(-1))

// epoch is the origin of time in scores. Any would do, but stored scores require a fixed origin.
var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Add returns the score with one more source: add the first item of a source in a story, not its later items,
// with weight, or with weight * [RepeatWeight] if that item only duplicates another. A weight of 0 or less
// adds nothing.
func (h HotScore) Add(weight float64, seen time.Time) HotScore {
	if !(weight > 0) {
		return h
	}
	return h.plus(HotScore(math.Log2(weight) + float64(seen.Sub(epoch))/float64(HalfLife)))
}

// plus returns the score of two disjoint sets of sources.
func (h HotScore) plus(other HotScore) HotScore {
	if other > h {
		h, other = other, h
	}
	if math.IsInf(float64(other), -1) {
		return h
	}
	return h + HotScore(math.Log2(1+math.Exp2(float64(other-h))))
}

// A SourceSighting is an item of a story, as input of its score.
type SourceSighting struct {
	Source    string // feed or host
	Weight    float64
	Seen      time.Time
	Duplicate bool
}

// NewHotScore returns the score of a story from its items in order of arrival. Only the first item of each
// source counts.
func NewHotScore(items []SourceSighting) HotScore {
	h := EmptyHotScore
	seen := make(map[string]bool)
	for _, item := range items {
		if seen[item.Source] {
			continue
		}
		seen[item.Source] = true
		weight := item.Weight
		if item.Duplicate {
			weight *= RepeatWeight
		}
		h = h.Add(weight, item.Seen)
	}
	return h
}

const (
	clickWeight = 0.5 // score of doubling the clicks
	burstWeight = 0.5 // score of a burst
)

// Rank returns the sort key of stories, greatest first, from score, clicks of readers, and burst.
func Rank(h HotScore, clicks int, burst bool) float64 {
	rank := float64(h) + clickWeight*math.Log2(1+float64(max(0, clicks)))
	if burst {
		rank += burstWeight
	}
	return rank
}

// ReachSources is the number of sources at which a story has reach, for [SourceWeight].
const ReachSources = 3

const (
	priorShare  = 0.25 // prior share of a source's items in such stories
	priorItems  = 20   // weight of the prior, in items
	worstWeight = 0.25
)

// SourceWeight returns the weight of a source, from 0.25 to 3.25, from the share of its items that were in
// stories with at least three sources. A source without history has weight 1.
func SourceWeight(reached, items int) float64 {
	share := (float64(reached) + priorShare*priorItems) / (float64(items) + priorItems)
	return worstWeight + (1-worstWeight)*share/priorShare
}
