package classify

import (
	"math"
	"math/bits"

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

// fieldRanks lists the fields in descending order of the worth of a term that occurs there. A term counts
// once, in its best field. Fields without worth restrict the documents that a rule applies to and are no
// evidence of their subject.
var fieldRanks = [...]struct {
	field rule.Field
	worth points // for a score of 1
	body  bool   // counts towards maxBody
}{
	{rule.Title, 3, false},
	{rule.Tags, 2, false},
	{rule.Host, 2, false},
	{rule.URL, 2, false},
	{rule.Body, 1, true},
	{rule.Author, 1, true},
	{rule.FeedTitle, 1, true},
	{rule.FeedTags, 0, false},
	{rule.Lang, 0, false},
}

// A fieldSet is a bit set of indexes in fieldRanks, the best field in the lowest bit.
type fieldSet uint16

var fieldSets = func() (sets [rule.FieldCount]fieldSet) {
	for i, p := range fieldRanks {
		sets[p.field] = 1 << i
	}
	sets[rule.Anywhere] = sets[rule.Title] | sets[rule.Tags] | sets[rule.Body] | sets[rule.FeedTitle]
	return sets
}()

// best returns the index in fieldRanks of the best field. The set must not be empty.
func (s fieldSet) best() int { return bits.TrailingZeros16(uint16(s)) }

func (s fieldSet) has(f rule.Field) bool { return s&fieldSets[f] != 0 }
