package policy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The test draws bursts by the model of lossFactor, two between polls, and counts the items that the first
// loses.
func TestLossFactor_PredictsLossesOfBursts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	const perDay, pairs = 24.0, 200_000
	for _, c := range []struct {
		size   float64
		window int
	}{{4, 10}, {9.5, 20}, {9.5, 50}, {3, 10}} {
		lost := 0.0
		for range pairs {
			first, second := c.size*r.ExpFloat64(), c.size*r.ExpFloat64()
			lost += min(first, max(first+second-float64(c.window), 0))
		}
		// In a day with one poll: the delay of the items, and the lost items as days of delay.
		delay, worthOfLost := perDay/2, lossDelay.Hours()/24*math.Pow(perDay/c.size, 2)/2*lost/pairs
		if got, want := lossFactor(perDay, 2*c.size, c.window), 1+worthOfLost/delay; math.Abs(got/want-1) > 0.05 {
			t.Errorf("bursts of %v, %d shown: got loss factor %.3f, want %.3f", c.size, c.window, got, want)
		}
	}
}

func TestLossFactor_IsOneWithoutBursts(t *testing.T) {
	t.Parallel()
	for _, window := range []int{0, 10, 50} {
		if got := lossFactor(500, 1, window); math.Abs(got-1) > 0.001 {
			t.Errorf("500 items a day one by one, %d shown: got %v, want 1", window, got)
		}
	}
	if got := lossFactor(500, 40, 0); got != 1 {
		t.Errorf("bursts of 40, in a document that shows all: got %v, want 1", got)
	}
}

func TestPrice_OverflowingBurstsShortenTheInterval(t *testing.T) {
	t.Parallel()
	p := newPrice(Settings{})
	crowded, plain := even(10), even(10)
	crowded.Window, plain.Window = 10, 10
	crowded.Model.burstSquares = 8 * crowded.Model.recent.items
	got, want := p.Next(crowded, monday, 0).Next.Sub(monday), p.Next(plain, monday, 0).Next.Sub(monday)
	if got > want*3/4 {
		t.Errorf("bursts of 8, 10 shown: got %v, want clearly less than the %v of one without bursts", got, want)
	}
}
