//go:build linux

package faults

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// A series is a value over time, sampled in quiet periods.
type series struct {
	what, unit string
	bound      *bound // of its growth, nil if not limited
	values     []sample
}

// A sample is a value at a time after the start.
type sample struct {
	at    time.Duration
	value float64
}

// A bound limits the last quarter's median by the first's: a factor, a constant, and an amount for each item
// then stored.
type bound struct{ times, more, each float64 }

// Bounds of an agent. Its memory in quiet periods is constant, so growth is a leak: a kilobyte leaked by each
// task is 100 MB in a quarter of an hour, at some hundred tasks a second. The heap is up to twice the live
// data, and Go returns memory slowly after a fault. Clusterers keep the window's items in memory, less than 4
// KB each (see package cluster); any agent with a store may become active at any time. Connections and their
// goroutines vary with the load.
var (
	memoryBound  = &bound{times: 1.25, more: 32}
	clusterBound = &bound{times: 1.25, more: 32, each: 2 * 4. / 1024}
	countBound   = &bound{times: 1.5, more: 50}
)

// warmUp is the excluded time at the start: a maximum and a share.
const warmUp, warmShare = 5 * time.Minute, 10

// quarters returns the medians of the quarters of the time after the warm-up; NaN for a quarter without quiet
// periods.
func (one *series) quarters(lasts time.Duration) (medians [4]float64) {
	warm := min(warmUp, lasts/warmShare)
	for q := range 4 {
		from, to := warm+(lasts-warm)*time.Duration(q)/4, warm+(lasts-warm)*time.Duration(q+1)/4
		var values []float64
		for _, v := range one.values {
			if v.at >= from && v.at < to {
				values = append(values, v.value)
			}
		}
		if len(values) == 0 {
			medians[q] = math.NaN()
			continue
		}
		slices.Sort(values)
		medians[q] = values[len(values)/2]
	}
	return medians
}

// most returns the limit of the last median for a number of stored items. It is infinite without a bound, NaN
// without a first median.
func (one *series) most(q [4]float64, items float64) float64 {
	if one.bound == nil {
		return math.Inf(1)
	}
	return one.bound.times*q[0] + one.bound.more + one.bound.each*items
}

// leak describes a series that exceeds its bound, or returns "".
func (one *series) leak(lasts time.Duration, items float64) string {
	q := one.quarters(lasts)
	most := one.most(q, items)
	if !(q[3] > most) { // nor NaN
		return ""
	}
	return fmt.Sprintf("%s grew from %.0f %s in the first quarter to %.0f in the last, more than %.0f", one.what, q[0], one.unit, q[3], most)
}

// growth prints all values over time.
func (s *survey) growth() string {
	var b strings.Builder
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(rows, "\nwhile quiet\tstart\tmedians of quarters: 1\t2\t3\t4\tend\tmay grow to\t ")
	items := s.items()
	for _, one := range s.series {
		q := one.quarters(s.lasts)
		fmt.Fprintf(rows, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t %s\n", one.what, one.values[0].value, q[0], q[1], q[2], q[3], one.values[len(one.values)-1].value, one.most(q, items), one.unit)
	}
	rows.Flush()
	return b.String()
}

func TestLeak_UnboundedGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		value func(minute float64) float64
		leaks bool
	}{
		"as it was":               {func(float64) float64 { return 100 }, false},
		"until it is warm":        {func(m float64) float64 { return min(300, 100+40*m) }, false},
		"a high now and then":     {func(m float64) float64 { return 100 + 400*float64(int(m)%3/2) }, false},
		"a kilobyte of each task": {func(m float64) float64 { return 100 + 6*m }, true},
	} {
		t.Run(name, func(t *testing.T) {
			one := &series{what: "memory", bound: memoryBound}
			for i := range 60 {
				one.values = append(one.values, sample{time.Duration(i) * time.Minute, c.value(float64(i))})
			}
			if why := one.leak(time.Hour, 0); (why != "") != c.leaks {
				t.Errorf("got %q", why)
			}
		})
	}
}
