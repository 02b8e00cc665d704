package story

import (
	"math"
	"testing"
	"time"
)

func TestHotScore_OneMoreIsTwiceTheSourcesOrSixHours(t *testing.T) {
	at := func(hours int) time.Time { return noon.Add(time.Duration(hours) * time.Hour) }
	one := EmptyHotScore.Add(1, at(0))
	for _, test := range []struct {
		name  string
		score HotScore
		want  float64 // above one source at noon
	}{
		{"one source", one, 0},
		{"two sources", one.Add(1, at(0)), 1},
		{"one source six hours later", EmptyHotScore.Add(1, at(6)), 1},
		{"four sources a day later", EmptyHotScore.Add(1, at(24)).Add(1, at(24)).Add(1, at(24)).Add(1, at(24)), 6},
		{"a source of weight 0", one.Add(0, at(9)).Add(math.NaN(), at(9)), 0},
		{"a source of half the weight", EmptyHotScore.Add(0.5, at(0)), -1},
		{"a later source before an earlier one", EmptyHotScore.Add(1, at(6)).Add(1, at(0)), math.Log2(3)},
	} {
		if got := float64(test.score - one); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: got %v more than one source, want %v", test.name, got, test.want)
		}
	}
}

func TestNewHotScore_CountsASourceOnceAndDuplicatesLess(t *testing.T) {
	items := []SourceSighting{{"a", 1, noon, false}, {"a", 1, noon.Add(time.Hour), false}, {"b", 1, noon, true}, {"b", 1, noon, false}}
	want := EmptyHotScore.Add(1, noon).Add(0.3, noon)
	if got := NewHotScore(items); math.Abs(float64(got-want)) > 1e-9 {
		t.Errorf("got %v, want %v: the first item of each source", got, want)
	}
}

func TestRank_RisesWithClicksAndBursts(t *testing.T) {
	plain := Rank(10, 0, false)
	if clicked, burst := Rank(10, 3, false), Rank(10, 0, true); plain != 10 || clicked != 11 || burst != 10.5 {
		t.Errorf("got %v, %v, %v; want 10, 11 with three clicks, 10.5 in a burst", plain, clicked, burst)
	}
}

func TestSourceWeight_RisesWithReach(t *testing.T) {
	if got := SourceWeight(0, 0); got != 1 {
		t.Errorf("without data: got %v, want 1", got)
	}
	if bad, good := SourceWeight(0, 1000), SourceWeight(900, 1000); bad > 0.3 || bad < 0.25 || good < 2.5 || good > 3.25 {
		t.Errorf("got %v for a source without followers and %v for a popular one", bad, good)
	}
}

// steadily adds bins of relevant items among items, and returns how many bursts start and end.
func steadily(b *Burst, bins, relevant, all int) (starts, ends int) {
	for range bins {
		s, e := b.Add(relevant, all, 0.01)
		if s {
			starts++
		}
		if e {
			ends++
		}
	}
	return starts, ends
}

func TestBurst_StartsAndEndsOnce(t *testing.T) {
	var b Burst
	if starts, _ := steadily(&b, 288, 1, 100); starts != 0 {
		t.Errorf("a day as usual: got %d bursts, want none", starts)
	}
	if starts, ends := steadily(&b, 6, 10, 100); starts != 1 || ends != 0 || !b.On {
		t.Errorf("ten times as many: got %d starts, %d ends, on %v; want it to start once", starts, ends, b.On)
	}
	if starts, ends := steadily(&b, 36, 0, 100); starts != 0 || ends != 1 || b.On {
		t.Errorf("silence: got %d starts, %d ends, on %v; want it to end once", starts, ends, b.On)
	}
}

func TestBurst_DependsOnTheShareOfItems(t *testing.T) {
	var b Burst
	steadily(&b, 288, 1, 100)
	if starts, _ := steadily(&b, 12, 10, 1000); starts != 0 {
		t.Errorf("ten times as many of everything: got %d bursts, want none", starts)
	}
}

func TestBurst_TwoItemsAreNoBurst(t *testing.T) {
	var b Burst
	for _, relevant := range []int{0, 0, 1, 1, 0} {
		if starts, _ := b.Add(relevant, 1000, 0.0001); starts {
			t.Error("two items start a burst")
		}
	}
}

func TestBurst_CostsStayFinite(t *testing.T) {
	var b Burst
	steadily(&b, 5000, 0, 0)
	steadily(&b, 5000, 100, 100)
	for _, x := range []float64{b.Calm, b.Wild, b.Relevant, b.All} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			t.Errorf("got %+v, want numbers", b)
		}
	}
}
