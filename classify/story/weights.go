package story

import (
	_ "embed"
	"encoding/json"
	"math"
	"sync"
)

// Weights are the weights and models of clustering. Models are logistic regressions: things belong together if the
// sum of their evidence times the weights, which is the logarithm of the odds, is 0 or more.
type Weights struct {
	BodyWords int `json:"body_words"` // words of an item's text that are used
	Prior     int `json:"prior"`      // virtual events, added to the events in the window

	Common *CommonTerms `json:"-"` // of the virtual events; may be nil

	// Weights of a pair of neighbouring words, a number and a name; a word has weight 1.
	Pair   float64 `json:"pair"`
	Number float64 `json:"number"`
	Name   float64 `json:"name"`

	// An item joins an event: by title alone, and if both have texts. Tighten is added to the log odds that are needed,
	// per doubling of an event above 8 items.
	JoinTitles Evidence `json:"join_titles"`
	JoinTexts  Evidence `json:"join_texts"`
	Tighten    float64  `json:"tighten"`

	// Two stories merge: by titles alone, and if most items have texts.
	MergeTitles MergeEvidence `json:"merge_titles"`
	MergeTexts  MergeEvidence `json:"merge_texts"`

	// SplitBelow is the mean cosine of a story's events and the whole below which the story is checked for a split, and
	// Connected the cosine of two events at which they stay in one story then: of titles, and of texts.
	SplitBelow     float64 `json:"split_below"`
	Connected      float64 `json:"connected"`
	ConnectedTexts float64 `json:"connected_texts"`
}

//go:embed weights.json
var weightsFile []byte

// Default returns the shipped weights, which "stories train" writes.
var Default = sync.OnceValue(func() (w Weights) {
	if err := json.Unmarshal(weightsFile, &w); err != nil {
		panic("story: weights.json: " + err.Error())
	}
	w.Common = new(CommonTerms)
	if err := w.Common.UnmarshalBinary(commonFile); err != nil {
		panic("story: common.bin: " + err.Error())
	}
	return w
})

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

	kindBits = 2
	kinds    = 1 << kindBits
)
