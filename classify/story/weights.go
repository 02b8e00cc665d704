package story

import "math"

// Weights are the thresholds and weights of clustering.
type Weights struct {
	BodyWords int // words of an item's text that are used
	Prior     int // virtual events without a term, added to the events in the window

	// Weights of a pair of neighbouring words, a number and a name; a word has weight 1.
	Pair, Number, Name float64

	// Parts of the score of an item and an event: cosine of all terms, cosine of names, and time between
	// them. Their sum is 1.
	Cosine, Names, Time float64

	// Least scores at which an item joins an event: by title alone, and if both have texts. Tighten is added
	// per doubling of an event above 8 items.
	Join, JoinText, Tighten float64

	// Least similarity of two events, and of their whole stories, at which stories merge: by titles alone,
	// and if most items have texts.
	Merge, MergeText float64
	Whole, WholeText float64

	// SplitBelow is the mean similarity of a story's events to the whole below which the story is checked for
	// a split.
	SplitBelow float64
}

// Default returns the shipped weights. They were found by grid search on the train halves, that is the
// stories of which FNV-32a>>4&1 is 0, of uci-headlines (two days of each sixteen), ecb-plus, basil with and
// without its days, and news-pairs-ru-en, in this order:
//
//	titles  Join 0.19..0.3, Merge 0.05..0.2, Whole 0.05..0.2, Pair 0..1, Number 0.8..2,
//	        Names 0..0.3, Tighten 0..0.02, SplitBelow 0..0.5: best B-cubed F1
//	texts   BodyWords 60..600, JoinText 0.28..0.5, MergeText 0.15..0.4, WholeText 0.15..0.45,
//	        Name 0.7..3, Names 0.1..0.5: best F1 of those with the least foreign items
//	both    Prior 2..1000: best where little has come yet, without harm later
func Default() Weights {
	return Weights{
		BodyWords: 300, Prior: 80,
		Pair: 0.2, Number: 1, Name: 1.5,
		Cosine: 0.61, Names: 0.3, Time: 0.09,
		Join: 0.21, JoinText: 0.29, Tighten: 0.01,
		Merge: 0.08, MergeText: 0.33,
		Whole: 0.15, WholeText: 0.36,
		SplitBelow: 0.4,
	}
}

// frequency returns the weight of a term that occurs count times.
func (w *Weights) frequency(count float64) float64 { return 1 + math.Log(count) }

func (w *Weights) ofKind(k kind) float64 {
	switch k {
	case isPair:
		return w.Pair
	case isNumber:
		return w.Number
	case isName:
		return w.Name
	}
	return 1
}

// A kind is the kind of a term.
type kind uint8

const (
	isWord kind = iota
	isPair      // two neighbouring stems
	isNumber
	isName // a run of capitalised words
)
