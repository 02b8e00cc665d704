package simulate

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestRhythm_FewFeedsPublishMostItems(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 500, 50_000} {
		all := rates(n, 3, 1)
		slices.Sort(all)
		sum, busy := 0.0, 0.0
		for i, rate := range all {
			sum += rate
			if i >= n*83/100 {
				busy += rate
			}
		}
		if share := busy / sum; math.Abs(share-0.97) > 0.01 {
			t.Errorf("of %d feeds the busy 17 %% publish %.3f of all items, want 0.97", n, share)
		}
		if mean := sum / float64(n); math.Abs(mean-3) > 1e-9 {
			t.Errorf("of %d feeds: got %v items a day on average, want 3", n, mean)
		}
	}
}

// rhythms returns one rhythm of each kind at some rates.
func rhythms() map[string]rhythm {
	all := map[string]rhythm{}
	for _, rate := range []float64{0.01, 0.4, 1, 1.4, 7, 130, 1200} {
		for kind, r := range map[string]rhythm{
			"chance":  {batch: 1, rate: rate},
			"batches": {batch: 5, rate: rate / 5},
			"slots":   {batch: 1, rate: rate, slots: true},
			"ahead":   {batch: 1, rate: rate, zone: 3 * time.Hour},
		} {
			r.seed = uint64(rate * 1000)
			all[kind+time.Duration(float64(24*time.Hour)/rate).String()] = r
		}
	}
	return all
}

func TestRhythm_DatesMatchPublication(t *testing.T) {
	t.Parallel()
	for name, r := range rhythms() {
		first := r.published(noon)
		for seq := max(0, first-40); seq < first+40; seq++ {
			at := r.at(seq)
			if before, after := r.published(at.Add(-2*time.Second)), r.published(at.Add(2*time.Second)); before > seq || after <= seq {
				t.Errorf("%s: entry %d: got %v, with %d entries before and %d until then", name, seq, at, before, after)
			}
			if next := r.at(seq + 1); next.Before(at) {
				t.Errorf("%s: entry %d: got %v, and %v for the next", name, seq, at, next)
			}
		}
	}
}

func TestRhythm_ItemCountsMatchRates(t *testing.T) {
	t.Parallel()
	for name, r := range rhythms() {
		const days = 2000
		got := float64(r.published(noon.AddDate(0, 0, days))-r.published(noon)) / days
		want := r.rate * float64(r.batch)
		tolerance := 0.05 * want
		if r.slots { // an integer number a day
			tolerance = 0.3 * want
		}
		if math.Abs(got-want) > tolerance+40./days {
			t.Errorf("%s: got %.3f items a day, want %.3f", name, got, want)
		}
	}
}

func TestRhythm_MostItemsArePublishedByDay(t *testing.T) {
	t.Parallel()
	for name, r := range rhythms() {
		day, all := 0, min(5000, int(r.rate*36500)) // a Duration ends after 292 years
		for seq := range all {
			if at := r.at(seq).Add(r.zone); at.Hour() >= 8 && at.Hour() < 18 {
				day++
			}
		}
		if r.slots && r.rate < 7 {
			continue // one or two fixed times may all be by day, or none
		}
		if share := float64(day) / float64(all); math.Abs(share-0.7) > 0.16 || !r.slots && math.Abs(share-0.7) > 0.08 {
			t.Errorf("%s: got a share of %.3f between 8:00 and 18:00, want 0.7", name, share)
		}
	}
}

func TestRhythm_KindsHaveTheirShares(t *testing.T) {
	t.Parallel()
	slots, batches := 0, 0
	const all = 5000
	for seed := range uint64(all) {
		r := newRhythm(draw(9, seed), 10, 0)
		if r.slots {
			slots++
		}
		if r.batch > 1 {
			batches++
			if at := r.at(0); r.at(r.batch-1) != at || r.at(r.batch) == at {
				t.Errorf("got a batch from %v to %v, the next at %v; want the batch at one time", at, r.at(r.batch-1), r.at(r.batch))
			}
		}
	}
	if math.Abs(float64(slots)/all-0.2) > 0.02 || math.Abs(float64(batches)/all-0.2) > 0.02 {
		t.Errorf("got %d of %d in slots and %d in batches, want a fifth each", slots, all, batches)
	}
}

func TestRhythm_PublishesNothingBeforeTheStart(t *testing.T) {
	t.Parallel()
	for name, r := range rhythms() {
		if got := r.published(origin.AddDate(0, 0, -2)); got != 0 {
			t.Errorf("%s: got %d entries before the first, want none", name, got)
		}
	}
}

func TestClock_RunsAtItsSpeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := Clock{Speed: 1000, Start: time.Now()}
		time.Sleep(20 * time.Millisecond)
		if got := c.Now().Sub(c.Start); got != 20*time.Second {
			t.Errorf("got %v after 20 ms, want it a thousand times as long", got)
		}
	})
}
