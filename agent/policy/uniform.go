package policy

import (
	"iter"
	"time"
)

// defaultInterval is six polls an hour.
//
// Source: D. Kiryanov, A Scalable Aggregation System Designed to Process
// 50,000 RSS Feeds, 2022: the naive plan it compares with.
const defaultInterval = 10 * time.Minute

// uniform polls all feeds at one interval, whatever they publish.
type uniform time.Duration

// Next implements [Policy].
func (u uniform) Next(f *Feed, now time.Time, spread float64) Decision {
	every := time.Duration(u)
	return settle(every, sentence("uniform: every ", span(every), ", as all feeds"), Warm, f, now, spread)
}

// Fit implements [Policy]; there is nothing to fit.
func (uniform) Fit(iter.Seq[*Feed], time.Time) {}

// Spent implements [Policy]; there is no budget.
func (uniform) Spent(int, time.Time) {}
