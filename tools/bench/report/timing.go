package report

import (
	"slices"
	"time"
)

// A Timing is the mean, the median and the 99th percentile of times.
type Timing struct{ Mean, P50, P99 time.Duration }

// TimingOf sorts and summarizes times.
func TimingOf(times []time.Duration) Timing {
	sum := time.Duration(0)
	for _, t := range times {
		sum += t
	}
	slices.Sort(times)
	return Timing{sum / time.Duration(len(times)), times[len(times)/2], times[len(times)*99/100]}
}
