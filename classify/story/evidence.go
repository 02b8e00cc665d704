package story

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A Clue is the number of a measurement by which two vectors are compared.
type Clue int

// Clues. All are between 0 and 1, except the sum.
const (
	Bias         Clue = iota // 1
	AllTerms                 // cosine of all terms, weighted by idf
	WordTerms                // cosine of words, and likewise of other kinds of terms
	PairTerms                //
	NumberTerms              //
	NameTerms                //
	OtherNumbers             // 1 if both have numbers, and none in common
	SharedTerms              // number of shared words, numbers and names; 1 is 8 and more
	RarestTerm               // idf of the rarest shared term; 1 is rare, or rarer
	SecondTerm               // idf of the second rarest shared term
	CoveredTerms             // share of the first vector's weight that is shared
	SumOfTerms               // sum of the idf of shared terms; 1 is eight rare terms
	clues
)

// clueNames are the names of clues in files.
var clueNames = [clues]string{
	"bias", "all", "words", "pairs", "numbers", "names", "other_numbers", "shared", "rarest", "second", "covered", "sum",
}

// Evidence is what two vectors have in common; or, in a model, the weight of each clue.
type Evidence [clues]float64

const (
	maxShared = 8             // shared terms above which more change nothing
	rare      = 4 * math.Ln10 // idf of a term that one of 10,000 events contains; of fewer events, none is rare
)

// An overlap is what a query and a vector have in common.
type overlap struct {
	dot     product
	covered float64 // square of the query's common terms
	terms   int     // words, numbers and names
	rarest  float64 // idf of the rarest of them
	second  float64
	sum     float64 // of their idf
}

// overlap returns what a query and a vector have in common. Terms outside the query are rejected by one lookup.
func (q *query) overlap(v packed) (o overlap) {
	weights := v.weights()
	for i, term := range v.terms() {
		n := q.places[q.place(term)]
		if n == 0 {
			continue
		}
		weight, square := float64(q.weights[n-1]), q.squares[n-1]
		o.dot.add(term, float64(float64(weight*float64(weights.of(i)))*square))
		o.covered += float64(float64(weight*weight) * square)
		if kindOf(term) != isPair {
			idf := q.idf[n-1]
			o.terms++
			o.sum += idf
			o.rarest, o.second = max(o.rarest, idf), max(o.second, min(o.rarest, idf))
		}
	}
	return o
}

// evidence returns the evidence of a query and a vector with a square.
func (x *index) evidence(q *query, o *overlap, square *product) (e Evidence) {
	e[Bias] = 1
	e[AllTerms] = cosine(o.dot.all(), q.square.all(), square.all())
	e[WordTerms] = cosine(o.dot[isWord], q.square[isWord], square[isWord])
	e[PairTerms] = cosine(o.dot[isPair], q.square[isPair], square[isPair])
	e[NumberTerms] = cosine(o.dot[isNumber], q.square[isNumber], square[isNumber])
	e[NameTerms] = cosine(o.dot[isName], q.square[isName], square[isName])
	if o.dot[isNumber] == 0 && q.square[isNumber] > 0 && square[isNumber] > 0 {
		e[OtherNumbers] = 1
	}
	e[SharedTerms] = min(1, float64(o.terms)/maxShared)
	e[RarestTerm], e[SecondTerm], e[SumOfTerms] = min(1, o.rarest/rare), min(1, o.second/rare), o.sum/(maxShared*rare)
	if q.square.all() > 0 {
		e[CoveredTerms] = o.covered / q.square.all()
	}
	return e
}

// compare returns the evidence of a query and a stored vector.
func (x *index) compare(q *query, v packed) Evidence {
	o, square := q.overlap(v), x.square(v)
	return x.evidence(q, &o, &square)
}

// cosine returns the cosine of two vectors from their product and squares; 0 if either is empty.
func cosine(dot, a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return dot / math.Sqrt(float64(a*b))
}

// times returns the sum of all clues times their weights. Products are rounded before they are added, so that all
// machines agree.
func (e *Evidence) times(weights *Evidence) (sum float64) {
	for i, clue := range e {
		sum += float64(clue * weights[i])
	}
	return sum
}

// MergeEvidence is the evidence of two stories of which one has an event that is similar to one of the other; or, in
// a model, the weight of each clue.
type MergeEvidence struct {
	Events  Evidence `json:"events"`  // of the two events
	Stories Evidence `json:"stories"` // of the two stories

	// Binary logarithms of votes, of the event and the story with fewer votes and of those with more, and of the number
	// of events of both stories.
	SmallerEvent float64 `json:"smaller_event"`
	LargerEvent  float64 `json:"larger_event"`
	SmallerStory float64 `json:"smaller_story"`
	LargerStory  float64 `json:"larger_story"`
	AllEvents    float64 `json:"all_events"`
}

func (e *MergeEvidence) times(weights *MergeEvidence) float64 {
	return e.Events.times(&weights.Events) + e.Stories.times(&weights.Stories) +
		float64(e.SmallerEvent*weights.SmallerEvent) + float64(e.LargerEvent*weights.LargerEvent) +
		float64(e.SmallerStory*weights.SmallerStory) + float64(e.LargerStory*weights.LargerStory) +
		float64(e.AllEvents*weights.AllEvents)
}

// MarshalJSON returns an object with the name of each clue that is not 0.
func (e Evidence) MarshalJSON() ([]byte, error) {
	named := make(map[string]float64)
	for i, clue := range e {
		if clue != 0 {
			named[clueNames[i]] = clue
		}
	}
	return json.Marshal(named)
}

// UnmarshalJSON reads what MarshalJSON returns. It rejects unknown names.
func (e *Evidence) UnmarshalJSON(b []byte) error {
	named := make(map[string]float64)
	if err := json.Unmarshal(b, &named); err != nil {
		return err
	}
	*e = Evidence{}
	for name, clue := range named {
		i := slices.Index(clueNames[:], name)
		if i < 0 {
			return fmt.Errorf("there is no clue %q", name)
		}
		e[i] = clue
	}
	return nil
}

// odds converts log odds to a probability.
func odds(log float64) float64 { return 1 / (1 + math.Exp(-log)) }
