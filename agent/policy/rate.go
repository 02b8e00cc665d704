package policy

import (
	"slices"
	"time"
)

// week is how far back a rate looks.
const week = 7 * 24 * time.Hour

// Rate returns how many items a day a feed brings, by the dates of the entries
// in its document: those of the last week, or, where the document does not
// reach back that far, those it has over the time they span. Dates in the
// future and zero ones say nothing. 0 if the dates tell nothing at all.
func Rate(dates []time.Time, now time.Time) float64 {
	dates = slices.DeleteFunc(slices.Clone(dates), func(d time.Time) bool { return d.IsZero() || d.After(now) })
	if len(dates) == 0 {
		return 0
	}
	slices.SortFunc(dates, time.Time.Compare)
	since := now.Add(-week)
	recent := 0
	for _, d := range dates {
		if d.After(since) {
			recent++
		}
	}
	switch {
	case recent == len(dates) && recent > 1:
		// All of the document is newer than a week: it shows a part of one. The
		// oldest entry only marks where that part begins. A document that was
		// made at one stroke spans nothing; an hour keeps its rate finite.
		span := max(now.Sub(dates[0]), time.Hour)
		return float64(recent-1) / span.Hours() * 24
	case recent > 0:
		return float64(recent) / 7
	}
	// Silent for a week: one item since its newest, at most.
	return 24 / now.Sub(dates[len(dates)-1]).Hours()
}

// faded returns what a rate has come to after a silence: as the items of the
// last week grow fewer, then one item at most since the silence began.
func faded(rate float64, silent time.Duration) float64 {
	if rate <= 0 || silent <= 0 {
		return rate
	}
	left := rate * (1 - float64(silent)/float64(week))
	return max(left, min(rate, 24/max(silent, week).Hours()))
}
