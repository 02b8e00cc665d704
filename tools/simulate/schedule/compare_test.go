package schedule

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"feedmesh/agent/role/schedule/policy"
)

// begin is a Monday's midnight.
var begin = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).Unix()

// compare compares tiers and price, with the minimum interval of tiers as floor.
func compare(t *testing.T, w World, s Span) (tiers, price Result) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: it simulates millions of polls")
	}
	results, err := Compare(t.Context(), w, s, []string{policy.KindTiers, policy.KindPrice}, 225*time.Second, 1)
	if err != nil {
		t.Fatal(err)
	}
	return results[0], results[1]
}

// small is a span short enough for a test.
var small = Span{Begin: begin, Learn: 14, Score: 7}

// generate returns a world for a span.
func generate(k Kind, n int, s Span) World { return k.Generate(n, s.Begin, s.Learn+s.Score+1, 1) }

// The figures that go run ./tools/simulate schedule prints for larger worlds.
func TestPrice_BeatsTiersAtEqualRequests(t *testing.T) {
	t.Parallel()
	for i, most := range []float64{0.80, 0.67} {
		k := Kinds()[i]
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			tiers, price := compare(t, generate(k, 800, small), small)
			if off := price.Requests/tiers.Requests - 1; math.Abs(off) > 0.02 {
				t.Errorf("price makes %+.1f %% of the tiers' requests more, want within 2 %%", 100*off)
			}
			if got := price.Mean / tiers.Mean; got > most {
				t.Errorf("an item waits %.0f s, %.2f of the %.0f s with tiers, want at most %.2f", price.Mean, got, tiers.Mean, most)
			}
			if price.P95 > tiers.P95 || price.FeedMean > 0.9*tiers.FeedMean {
				t.Errorf("95 %% of items within %.0f s, a feed's mean %.0f s; tiers have %.0f and %.0f", price.P95, price.FeedMean, tiers.P95, tiers.FeedMean)
			}
		})
	}
}

func TestPrice_LosesHalfAsManyItemsAsTiers(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			w := generate(k, 600, small)
			for i := range w.Feeds {
				w.Feeds[i].Window = 10 // so that enough items are lost for a comparison
			}
			tiers, price := compare(t, w, small)
			t.Logf("avoidably lost: %.3f %% of %d items, %.3f %% with tiers", 100*price.Avoidable, price.Items, 100*tiers.Avoidable)
			if price.Avoidable > 0.5*tiers.Avoidable {
				t.Errorf("%.3f %% of items are lost that need not be, want at most half of the %.3f %% with tiers", 100*price.Avoidable, 100*tiers.Avoidable)
			}
		})
	}
}

func TestRun_EqualSeedsGiveEqualResults(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) Result {
		w := Kinds()[0].Generate(50, begin, 4, seed)
		r, err := Run(t.Context(), w, Span{begin, 1, 2}, policy.New(policy.Settings{}), seed)
		if err != nil {
			t.Fatal(err)
		}
		r.Elapsed = 0
		return r
	}
	first := run(1)
	if repeated := run(1); !reflect.DeepEqual(first, repeated) {
		t.Errorf("got %+v, then %+v", first, repeated)
	}
	if other := run(2); other.Mean == first.Mean {
		t.Error("two seeds give equal results")
	}
}

// every is a policy with one interval, without jitter.
type every struct {
	policy.Policy
	seconds int64
}

func (e every) Next(_ *policy.Feed, now time.Time, _ float64) policy.Decision {
	return policy.Decision{Next: now.Add(time.Duration(e.seconds) * time.Second)}
}

func TestScore_OfAConstructedDay(t *testing.T) {
	t.Parallel()
	// Two items early on the scored day, a batch larger than the document, and two pairs of which a poll an
	// hour finds one item each.
	const scored = 86400
	f := Feed{Window: 2}
	for _, s := range []int64{10_000, 20_000, 30_000, 30_000, 30_001, 40_000, 41_000, 42_000} {
		f.Published = append(f.Published, begin+scored+s)
	}
	w := World{Name: "one", Feeds: []Feed{f}}
	r, err := Run(t.Context(), w, Span{begin, 1, 1}, every{policy.New(policy.Settings{Kind: policy.KindUniform}), 3600}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Items != 8 || r.Requests != 24 {
		t.Errorf("got %d items and %v requests, want 8 and 24", r.Items, r.Requests)
	}
	if lost := r.Lost * 8; lost != 1 && lost != 2 {
		t.Errorf("got %v items lost, want one of the batch, and one between 40,000 s and 42,000 s if all are between two polls", lost)
	}
	if got := (r.Lost - r.Avoidable) * 8; math.Abs(got-1) > 1e-9 {
		t.Errorf("got %v lost that could not be helped, want 1", got)
	}
	if r.Mean <= 0 || r.Mean > 3600 || r.P95 > 3600 || r.Median > r.P95 || r.FeedMean != r.Mean {
		t.Errorf("polled every hour: mean %v, median %v, 95 %% %v, of feeds %v", r.Mean, r.Median, r.P95, r.FeedMean)
	}
	if r.HitRate <= 0 || r.PerItem != 24/(8-8*r.Lost) {
		t.Errorf("got a hit rate of %v and %v requests an item", r.HitRate, r.PerItem)
	}
}

func TestRun_ReturnsContextError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := Kinds()[0].Generate(5, begin, 4, 1)
	if _, err := Compare(ctx, w, Span{begin, 1, 2}, []string{policy.KindTiers}, time.Minute, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was canceled", err)
	}
}

func TestMean_AveragesSeeds(t *testing.T) {
	t.Parallel()
	got := Mean([]Result{
		{World: "K", Policy: "a", Seed: 1, Mean: 10, Items: 4}, {World: "K", Policy: "b", Seed: 1, Mean: 1},
		{World: "K", Policy: "a", Seed: 2, Mean: 30, Items: 8},
	})
	if len(got) != 2 || got[0].Mean != 20 || got[0].Items != 6 || got[1].Mean != 1 || got[0].Seed != 0 {
		t.Errorf("got %+v", got)
	}
}

func BenchmarkRun(b *testing.B) {
	w := Kinds()[0].Generate(1000, begin, 5, 1)
	polls := 0
	for b.Loop() {
		r, err := Run(context.Background(), w, Span{begin, 2, 2}, policy.New(policy.Settings{}), 1)
		if err != nil {
			b.Fatal(err)
		}
		polls += r.Polls
	}
	b.ReportMetric(float64(polls)/b.Elapsed().Seconds(), "polls/s")
}
