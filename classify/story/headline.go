package story

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Version is an item of a story, as its headline and summary are made from it.
type Version struct {
	ItemID   string
	Title    string
	Text     string // plain; may be empty
	Language string
	Source   string // feed or host
	Weight   float64
	Seen     time.Time
	Repeats  bool
}

// sayingStems is how many stems a title has that says something: a shorter one is like
// all others because it says less.
const sayingStems = 5

// maxVersions is how many items of a story are compared with each other.
const maxVersions = 100

// Headline returns the index of the item that stands for a story: the one that is
// most like the others, of a good source, and fresh; -1 if there is none. Of more
// than 100 items the newest are looked at. O(n²).
func Headline(items []Version) int {
	from := max(0, len(items)-maxVersions)
	vectors := make([]sentence, len(items)-from)
	stems := lexicon{}
	newest := time.Time{}
	for i := range vectors {
		item := items[from+i]
		vectors[i] = newSentence(item.Title, item.Language, stems)
		if item.Seen.After(newest) {
			newest = item.Seen
		}
	}
	alike := matrix(len(vectors))
	for i, v := range vectors {
		for j, w := range vectors[:i] {
			alike[i][j] = v.cosine(w)
			alike[j][i] = alike[i][j]
		}
	}
	best, most := -1, math.Inf(-1)
	for i, v := range vectors {
		item := items[from+i]
		sum := 0.0
		for _, cosine := range alike[i] {
			sum += cosine
		}
		score := (sum/float64(max(1, len(vectors)-1)) + 0.01) * cmp.Or(item.Weight, 1)
		score *= min(1, float64(len(v.stems))/sayingStems)
		score *= math.Exp2(-float64(newest.Sub(item.Seen)) / float64(4*HalfLife))
		if item.Repeats {
			score *= RepeatWeight
		}
		if score > most {
			best, most = from+i, score
		}
	}
	return best
}

// MostNamed returns the names that most items have, at most limit of those that at
// least a third of the items that have any agree on, and a tenth of all; of equal
// ones in the order of the alphabet. It is how a story gets its categories and topics: each element of
// votes are the names of one item.
func MostNamed(votes [][]string, limit int) []string {
	counts := make(map[string]int)
	voters := 0
	for _, names := range votes {
		if len(names) > 0 {
			voters++
		}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
			counts[name]++
		}
	}
	var list []string
	for name, n := range counts {
		if 3*n >= voters && 10*n >= len(votes) {
			list = append(list, name)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return slices.Clip(list[:min(len(list), max(0, limit))])
}
