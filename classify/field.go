package classify

import (
	"math"
	"math/bits"

	"feedmesh/classify/rule"
)

// points are ten-thousandths of a point. Sums of whole numbers are the same on every
// machine and in every order, which those of floats are not. No legal set gives
// a label more than 2^47 of them.
type points int64

const point points = 10_000

func pointsOf(score float64) points { return points(math.Round(score * float64(point))) }

func (p points) score() float64 { return float64(p) / float64(point) }

const (
	byFacts = 3         // what a rule is worth that holds by facts alone, for a score of 1
	maxBody = 3 * point // that body, feed and author may give a label: they mention much
)

// places are the fields in the order of what a term that occurs in one is worth:
// a term counts once, in the first of its places. What is worth nothing says for
// whom a rule is rather than what the document is about.
var places = [...]struct {
	field rule.Field
	worth points // for a score of 1
	body  bool   // with others gives no more than maxBody
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

// A fieldSet has a bit for each of some places, the lowest for the first.
type fieldSet uint16

var fieldSets = func() (sets [rule.Fields]fieldSet) {
	for i, p := range places {
		sets[p.field] = 1 << i
	}
	sets[rule.Anywhere] = sets[rule.Title] | sets[rule.Tags] | sets[rule.Body] | sets[rule.FeedTitle]
	return sets
}()

// best returns the index in places of the best field of a set that has one.
func (s fieldSet) best() int { return bits.TrailingZeros16(uint16(s)) }

func (s fieldSet) has(f rule.Field) bool { return s&fieldSets[f] != 0 }
