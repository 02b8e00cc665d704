package story

import (
	"math"
	"time"
)

// BurstBin is how long a bin of a [Burst] is.
const BurstBin = 5 * time.Minute

const (
	burstRate  = 2.0  // s: how much more often items come in a burst
	burstPrice = 1.0  // gamma: what it costs to enter one
	burstHalf  = 24.0 // hours after which a bin counts half for what is usual
	burstPrior = 12   // bins' worth of what is usual for all, before we know
	leastBurst = 3    // items without which there is no burst
)

// A Burst says whether items of a story, category or topic come in a burst: it is
// Kleinberg's automaton of two states, on line, in bins of five minutes. Costs are
// those of the binned form: in a bin r of d items are relevant, each with the
// probability that is usual, or with twice that in a burst; to enter a burst costs
// gamma * ln n, n bins. The zero Burst has seen nothing. O(1) a bin.
//
// Source: J. Kleinberg, Bursty and hierarchical structure in streams, 2002.
type Burst struct {
	Relevant float64 `json:"relevant"` // items so far, decayed
	All      float64 `json:"all"`
	Bins     int     `json:"bins"`
	Calm     float64 `json:"calm"` // cost of the best path that ends without a burst, less Wild's if that is less
	Wild     float64 `json:"wild"` // and of the one that ends in a burst
	Recent   int     `json:"recent"`
	On       bool    `json:"on"`
}

// Add counts a bin: relevant items of all items. usual is the share that is usual
// for what there is no history of, as 1/categories for a category. It reports
// whether a burst starts or ends with the bin. Bins must come in order, those
// without items too.
func (b *Burst) Add(relevant, all int, usual float64) (starts, ends bool) {
	b.Bins++
	prior := burstPrior * float64(max(1, all))
	share := (b.Relevant + usual*prior) / (b.All + prior)
	share = min(max(share, 1e-6), 1/(burstRate+1e-6)*0.999)
	calm, wild := binCost(relevant, all, share), binCost(relevant, all, min(burstRate*share, 0.999))
	enter := burstPrice * math.Log(float64(1+b.Bins))
	b.Calm, b.Wild = min(b.Calm, b.Wild)+calm, min(b.Wild, b.Calm+enter)+wild
	least := min(b.Calm, b.Wild)
	b.Calm, b.Wild = b.Calm-least, b.Wild-least // so that they do not grow forever
	b.Recent += relevant
	was := b.On
	b.On = b.Wild < b.Calm && b.Recent >= leastBurst
	if b.Wild >= b.Calm {
		b.Recent = 0
	}
	keep := math.Exp2(-float64(BurstBin) / float64(time.Hour) / burstHalf)
	b.Relevant, b.All = keep*b.Relevant+float64(relevant), keep*b.All+float64(all)
	return b.On && !was, was && !b.On
}

// binCost returns the negative logarithm of the probability of r of d, but for the
// binomial coefficient, which is the same in both states.
func binCost(r, d int, p float64) float64 {
	return -float64(r)*math.Log(p) - float64(d-r)*math.Log1p(-p)
}
