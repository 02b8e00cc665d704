package story

import (
	"math"
	"time"
)

// BurstBin is the length of a bin of a [Burst].
const BurstBin = 5 * time.Minute

const (
	burstRate  = 2.0  // s: rate of a burst relative to the usual rate
	burstPrice = 1.0  // gamma: cost of entering a burst
	burstHalf  = 24.0 // hours after which a bin has half weight in the usual rate
	burstPrior = 12   // weight, in bins, of the prior usual rate
	leastBurst = 3    // least items of a burst
)

// A Burst detects bursts of items of a story, category or topic: Kleinberg's automaton of two states, online,
// in bins of five minutes. Costs are those of the binned form: in a bin r of d items are relevant, each with
// the usual probability, or with twice that in a burst; entering a burst costs gamma * ln n, where n is the
// number of bins. The zero Burst is ready to use. O(1) a bin.
//
// Source: J. Kleinberg, Bursty and hierarchical structure in streams, 2002.
type Burst struct {
	Relevant float64 `json:"relevant"` // decayed sum of relevant items
	All      float64 `json:"all"`
	Bins     int     `json:"bins"`
	Calm     float64 `json:"calm"` // cost of the best path that ends outside a burst, minus the lesser of both costs
	Wild     float64 `json:"wild"` // cost of the best path that ends in a burst, likewise
	Recent   int     `json:"recent"`
	On       bool    `json:"on"`
}

// Add adds a bin with relevant items of all items. usual is the prior share without history, such as
// 1/categories for a category. It reports whether a burst starts or ends with the bin. Bins must come in
// order, including empty bins.
func (b *Burst) Add(relevant, all int, usual float64) (starts, ends bool) {
	b.Bins++
	prior := burstPrior * float64(max(1, all))
	share := (b.Relevant + usual*prior) / (b.All + prior)
	share = min(max(share, 1e-6), 1/(burstRate+1e-6)*0.999)
	calm, wild := binCost(relevant, all, share), binCost(relevant, all, min(burstRate*share, 0.999))
	enter := burstPrice * math.Log(float64(1+b.Bins))
	b.Calm, b.Wild = min(b.Calm, b.Wild)+calm, min(b.Wild, b.Calm+enter)+wild
	least := min(b.Calm, b.Wild)
	b.Calm, b.Wild = b.Calm-least, b.Wild-least // prevents unbounded growth
	b.Recent += relevant
	was := b.On
	b.On = b.Wild < b.Calm && b.Recent >= leastBurst
	if b.Wild >= b.Calm {
		b.Recent = 0
	}
	b.count(relevant, all)
	return b.On && !was, was && !b.On
}

// MaxBurstShare is the usual share of all items above which there are no bursts: twice of it would be nearly all items.
const MaxBurstShare = 0.4

// Share returns the usual share of all items, 0 without any.
func (b *Burst) Share() float64 { return b.Relevant / max(b.All, 1) }

// Learn adds a bin to the usual rate only, while too little of the past is known to detect a burst.
func (b *Burst) Learn(relevant, all int) {
	b.Bins++
	b.count(relevant, all)
}

// count adds a bin to the usual rate.
func (b *Burst) count(relevant, all int) {
	keep := math.Exp2(-float64(BurstBin) / float64(time.Hour) / burstHalf)
	b.Relevant, b.All = keep*b.Relevant+float64(relevant), keep*b.All+float64(all)
}

// binCost returns the negative log-likelihood of r of d. It omits the binomial coefficient, which is equal in
// both states.
func binCost(r, d int, p float64) float64 {
	return -float64(r)*math.Log(p) - float64(d-r)*math.Log1p(-p)
}
