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

// A series is a value over time, while all was quiet.
type series struct {
	what, unit string
	bound      *bound // of its growth, nil if it may grow
	values     []sample
}

// A sample is a value, some time after the start.
type sample struct {
	at    time.Duration
	value float64
}

// A bound says how much larger the last quarter's median may be than the first's: so
// many times that, so much more, and so much for each item that is stored then.
type bound struct{ times, more, each float64 }

// Bounds of an agent. What it holds when all is quiet is the same at any time, so
// that growth is a leak: a kilobyte of each task that is never let go is 100 MB in
// a quarter of an hour, as some hundred tasks a second are done. The heap is up to
// twice what lives in it, and Go gives back slowly what a fault made it grow by.
// What places items remembers them, in less than 4 KB each (see role.Cluster): any
// agent with a store may have to from one moment to the next. Connections, and those
// who wait on them, come and go with the load.
var (
	memoryBound  = &bound{times: 1.25, more: 32}
	clusterBound = &bound{times: 1.25, more: 32, each: 2 * 4. / 1024}
	countBound   = &bound{times: 1.5, more: 50}
)

// warmUp is the time at the start that does not count, at most and as a share.
const warmUp, warmShare = 5 * time.Minute, 10

// quarters returns the medians of the quarters of a time, which begins when all is
// warm; NaN for one that was never quiet.
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

// most returns how large the last median may be, when so many items are stored. It is
// infinite if there is no bound, NaN if the first is not known.
func (one *series) most(q [4]float64, items float64) float64 {
	if one.bound == nil {
		return math.Inf(1)
	}
	return one.bound.times*q[0] + one.bound.more + one.bound.each*items
}

// leak returns what is wrong if a series grew beyond its bound, or "".
func (one *series) leak(lasts time.Duration, items float64) string {
	q := one.quarters(lasts)
	most := one.most(q, items)
	if !(q[3] > most) { // nor what is not known
		return ""
	}
	return fmt.Sprintf("%s grew from %.0f %s in the first quarter to %.0f in the last, more than %.0f", one.what, q[0], one.unit, q[3], most)
}

// growth shows how all values went over time.
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

func TestGrowthWithoutEndIsALeak(t *testing.T) {
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
