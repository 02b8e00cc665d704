package classify

import (
	"math"
	"math/bits"
	"slices"

	"feedmesh/classify/rule"
)

// points are ten-thousandths of a point. Integer sums are equal on every machine and in every order, unlike
// sums of floats. No valid set gives a label more than 2^47 of them.
type points int64

const point points = 10_000

func pointsOf(score float64) points { return points(math.Round(score * float64(point))) }

func (p points) score() float64 { return float64(p) / float64(point) }

const (
	factWorth = 3         // worth of a rule that holds by facts alone, for a score of 1
	maxBody   = 3 * point // maximum that body, author and feed title may give a label, because they mention many subjects
)

// fieldRanks lists the fields as evidence, the best first. A term counts once, in its best field.
var fieldRanks = func() (ranks [rule.FieldCount - 1]rule.Field) {
	for i := range ranks {
		ranks[i] = rule.Field(i) + 1
	}
	slices.SortFunc(ranks[:], func(a, b rule.Field) int { return rule.Fields[a].Rank - rule.Fields[b].Rank })
	return ranks
}()

// A fieldSet is a bit set of indexes in fieldRanks, the best field in the lowest bit.
type fieldSet uint16

var fieldSets = func() (sets [rule.FieldCount]fieldSet) {
	for i, f := range fieldRanks {
		sets[f] = 1 << i
		if rule.Fields[f].Anywhere {
			sets[rule.Anywhere] |= sets[f]
		}
	}
	return sets
}()

// best returns the index in fieldRanks of the best field. The set must not be empty.
func (s fieldSet) best() int { return bits.TrailingZeros16(uint16(s)) }

func (s fieldSet) has(f rule.Field) bool { return s&fieldSets[f] != 0 }
