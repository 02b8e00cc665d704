package policy

import (
	"iter"
	"time"
)

// defaultInterval is six polls an hour.
//
// Source: D. Kiryanov, A Scalable Aggregation System Designed to Process 50,000 RSS Feeds, 2022: the naive
// plan used as a baseline.
const defaultInterval = 10 * time.Minute

// uniform polls all feeds at one interval.
type uniform time.Duration

// Next implements [Policy].
func (u uniform) Next(f *Feed, now time.Time, spread float64) Decision {
	every := time.Duration(u)
	return decide(every, join("uniform: every ", durationText(every), " for all feeds"), Warm, f, now, spread)
}

// Recalibrate implements [Policy]; it has no parameters to adapt.
func (uniform) Recalibrate(iter.Seq[*Feed], time.Time) {}

// RecordPolls implements [Policy]; uniform has no budget.
func (uniform) RecordPolls(int, time.Time) {}

// SetBudget implements [Policy].
func (uniform) SetBudget(float64) {}
