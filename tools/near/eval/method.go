package eval

import (
	"feedmesh/classify/near"
	"feedmesh/classify/text"
	"feedmesh/classify/unique"
)

// A Method computes the similarity of two items.
type Method struct {
	Name string
	// Threshold is the score at which items are duplicates according to the method's source.
	Threshold float64
	// Prepare converts an item to the input of Score.
	Prepare func(Item) any
	// Score returns the similarity of two prepared items, from 0 to 1. sameFeed states that both are in one
	// feed.
	Score func(a, b any, sameFeed bool) float64
}

// Methods returns our method and those of the sources. Items may have only a title.
func Methods(s near.Settings) []Method {
	return []Method{
		ours(s),
		{"source 2: shingles w=10, Dice", 0.5, checksums(10), func(a, b any, _ bool) float64 {
			return unique.Dice(a.([]int32), b.([]int32)) / 100
		}},
		wordShingles("source 3 A: w=3", false, Resemblance),
		wordShingles("source 3 A: w=3, bounded", true, Resemblance),
		wordShingles("source 3 A: w=3, containment", false, contained),
		{"source 3 A: w=3..5, growing", 0.5, chains, func(a, b any, _ bool) float64 {
			sum, x, y := 0.0, a.([]Set), b.([]Set)
			for i := range x {
				sum += Resemblance(x[i], y[i])
			}
			return sum / float64(len(x))
		}},
		{"source 3 B: word matrix", 0.75, func(i Item) any { return list(i.Title + " " + i.Text) }, func(a, b any, _ bool) float64 {
			return near.MatrixSimilarity(a.([]string), b.([]string), 0.2)
		}},
		{"SimHash-64, 3 bits", 61. / 64, func(i Item) any { return SimHash(list(i.Title + " " + i.Text)) }, func(a, b any, _ bool) float64 {
			return 1 - float64(HammingDistance(a.(uint64), b.(uint64)))/64
		}},
	}
}

// ours scores 1 for pairs that the index would find and match, and else 0: it has several thresholds.
func ours(s near.Settings) Method {
	return Method{"ours", 1, func(i Item) any { return s.Sketch(i.Title, i.Text) }, func(x, y any, sameFeed bool) float64 {
		a, b := x.(*near.Sketch), y.(*near.Sketch)
		if a.SharesKey(b) && s.Compare(a, b, sameFeed).By != "" {
			return 1
		}
		return 0
	}}
}

func checksums(w int) func(Item) any {
	return func(i Item) any { return unique.Checksums(unique.CanonicalWords(i.Title+" "+i.Text, i.language()), w) }
}

func wordShingles(name string, bounded bool, similarity func(a, b Set) float64) Method {
	return Method{name, 0.5, func(i Item) any { return WordShingles(i.Title+". "+i.Text, 3, bounded) }, func(a, b any, _ bool) float64 {
		return similarity(a.(Set), b.(Set))
	}}
}

func chains(i Item) any {
	var sets []Set
	for w := 3; w <= 5; w++ {
		sets = append(sets, WordShingles(i.Title+". "+i.Text, w, false))
	}
	return sets
}

// contained returns the share of the smaller set that the other contains.
func contained(a, b Set) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	return Containment(a, b)
}

// language returns the language of an item. The default is English, the language of most sets.
func (i Item) language() string {
	if i.Language != "" {
		return i.Language
	}
	return "en"
}

func list(plain string) []string {
	var words []string
	for _, w := range text.Words(plain) {
		words = append(words, w.Text)
	}
	return words
}
