package alert

import (
	"math"
	"math/rand/v2"
	"testing"
)

// simulate returns the share of times with an alert. A time has n values, normally distributed or mostly near -1 and 1; their mean falls by shift at
// its begin. The condition is evaluated a hundred times in it, as by the role.
func simulate(random *rand.Rand, n, times int, isExtreme bool, shift, fall float64) (share float64) {
	const steps = 100
	raised := 0
	for range times {
		values := make([]float64, 3*n)
		for i := range values {
			mean := 0.2
			if i >= 2*n {
				mean -= shift
			}
			values[i] = max(-1, min(1, mean+0.4*random.NormFloat64()))
			if isExtreme {
				values[i] = 0.8
				if random.Float64() > (mean+0.8)/1.6 {
					values[i] = -0.8
				}
			}
		}
		for step := range steps {
			at := 2*n + (step+1)*n/steps
			if _, is := Compare(values[at-2*n:at-n], values[at-n:at], fall); is {
				raised++
				break
			}
		}
	}
	return float64(raised) / float64(times)
}

// Without a change there is hardly an alert, though each time has a hundred evaluations; a shift as large as the condition or larger has one.
func TestCompare_FalseAlerts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	times := 2000
	if testing.Short() {
		times = 200
	}
	for _, test := range []struct {
		n           int
		isExtreme   bool
		shift, fall float64
		atLeast     float64 // share of alerts
		atMost      float64
	}{
		{30, false, 0, 0.01, 0, 0.005},
		{100, false, 0, 0.01, 0, 0.005},
		{1000, false, 0, 0.01, 0, 0.005},
		{30, true, 0, 0.01, 0, 0.005},
		{100, true, 0, 0.01, 0, 0.005},
		{30, false, 0, 0.3, 0, 0.005},
		{100, false, 0, 0.1, 0, 0.005},
		{30, false, 0.6, 0.3, 0.85, 1},
		{100, false, 0.4, 0.3, 0.95, 1},
		{1000, false, 0.4, 0.3, 0.99, 1},
		{1000, false, 0.2, 0.3, 0, 0.005}, // a real change that is smaller than the condition
	} {
		got := simulate(random, test.n, times, test.isExtreme, test.shift, test.fall)
		t.Logf("%4d values, extreme %5v, mean falls by %.2f, condition %.2f: %.2f %% of the times have an alert", test.n, test.isExtreme, test.shift, test.fall, 100*got)
		if got < test.atLeast || got > test.atMost {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

func TestCompare_Bounds(t *testing.T) {
	constant := func(n int, v float64) (all []float64) {
		for range n {
			all = append(all, v)
		}
		return all
	}
	if _, is := Compare(constant(MinScored-1, 0.9), constant(500, -0.9), 0.3); is {
		t.Error("too few values before are enough")
	}
	if _, is := Compare(constant(500, 0.9), constant(MinScored-1, -0.9), 0.3); is {
		t.Error("too few values after are enough")
	}
	if m, is := Compare(constant(MinScored, 0.4), constant(MinScored, 0.1), 0.3); !is || math.Abs(m.Before-0.4) > 1e-9 || math.Abs(m.After-0.1) > 1e-9 {
		t.Errorf("got %+v, %v, want a fall of exactly the condition", m, is)
	}
	if _, is := Compare(constant(MinScored, 0.1), constant(MinScored, 0.4), 0.3); is {
		t.Error("a rise is a fall")
	}
	if _, is := Compare(nil, nil, 0.01); is {
		t.Error("no values are a fall")
	}
}
