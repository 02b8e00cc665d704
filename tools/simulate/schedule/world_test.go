package schedule

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// rates returns the rates of a world's feeds in items a day, descending.
func rates(w World, days int) []float64 {
	var rates []float64
	for _, f := range w.Feeds {
		rates = append(rates, float64(len(f.Published))/float64(days+before))
	}
	slices.Sort(rates)
	slices.Reverse(rates)
	return rates
}

func sum(v []float64) (total float64) {
	for _, x := range v {
		total += x
	}
	return total
}

func TestWorldK_HasTheSharesOfKiryanov(t *testing.T) {
	t.Parallel()
	r := rates(Kinds()[0].Generate(4000, begin, 200, 1), 200)
	if got := r[4000*5/100]; math.Abs(got-8) > 1 {
		t.Errorf("5 %% of feeds have more than %.2f items a day, want 8", got)
	}
	if got := r[4000*19/100]; math.Abs(got-3) > 0.3 {
		t.Errorf("19 %% of feeds have more than %.2f items a day, want 3", got)
	}
}

func TestWorldT_HasTheSharesOfTravers(t *testing.T) {
	t.Parallel()
	r := rates(Kinds()[1].Generate(4000, begin, 20, 1), 20)
	if got := sum(r[:4000*17/100]) / sum(r); math.Abs(got-0.96) > 0.015 {
		t.Errorf("17 %% of feeds give %.1f %% of the items, want 96 %%", 100*got)
	}
}

func TestWorld_SeventyPercentInWorkingHours(t *testing.T) {
	t.Parallel()
	work, all := 0, 0
	for _, f := range Kinds()[0].Generate(1000, begin, 30, 1).Feeds {
		if f.Window < 10 || f.Window > 50 || !slices.IsSorted(f.Published) {
			t.Fatalf("a feed shows %d entries, or its items are in no order", f.Window)
		}
		for _, at := range f.Published {
			all++
			if h := at % daySeconds / 3600; h >= workFrom && h < workTo {
				work++
			}
		}
	}
	if got := float64(work) / float64(all); math.Abs(got-0.7) > 0.02 {
		t.Errorf("%.1f %% of %d items are published between 8 and 18 o'clock, want 70 %%", 100*got, all)
	}
}

func TestWorld_EqualSeedsGiveEqualWorlds(t *testing.T) {
	t.Parallel()
	k := Kinds()[1]
	if !reflect.DeepEqual(k.Generate(20, begin, 5, 3), k.Generate(20, begin, 5, 3)) {
		t.Error("equal seeds give different worlds")
	}
	if reflect.DeepEqual(k.Generate(20, begin, 5, 3), k.Generate(20, begin, 5, 4)) {
		t.Error("different seeds give equal worlds")
	}
}

func TestWheel_ReturnsFeedsWhenDue(t *testing.T) {
	t.Parallel()
	w := newWheel(4, 100)
	due := map[int]int64{0: 101, 1: 150, 2: 100 + wheelSize, 3: 100 + 3*wheelSize + 7}
	for feed, at := range due {
		w.put(feed, at)
	}
	for range 4 * wheelSize {
		w.step(func(feed int) {
			if due[feed] != w.now {
				t.Errorf("feed %d: due at %d, want %d", feed, w.now, due[feed])
			}
			delete(due, feed)
		})
	}
	if len(due) > 0 {
		t.Errorf("feeds that never became due: %v", due)
	}
}
