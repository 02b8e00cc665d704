package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"feedmesh/agent/policy"
)

// withSilent returns a world with, for each of its feeds, one more that fell
// silent: every second of them for good, at some time in the two years before,
// the others for one to many months at a time, between which they have a few
// items.
func withSilent(w World, days int, seed uint64) World {
	const history = 730
	r := rand.New(rand.NewPCG(seed, math.MaxUint64))
	feeds := w.Feeds
	for i := range feeds {
		p := publisher{Rand: r, rate: math.Exp(r.NormFloat64()) / 2}
		f := Feed{Window: 10 + r.IntN(41)}
		if i%2 == 0 {
			for day, last := -history, -1-r.IntN(history); day <= last; day++ {
				for _, t := range p.random() {
					f.Published = append(f.Published, begin+int64(day)*daySeconds+t)
				}
			}
		} else {
			for day := -history; day < days; day += 30 + int(60*r.ExpFloat64()) {
				for range 1 + r.IntN(3) {
					f.Published = append(f.Published, begin+int64(day)*daySeconds+p.moment())
				}
			}
		}
		slices.Sort(f.Published)
		w.Feeds = append(w.Feeds, f)
	}
	return w
}

func TestPriceBeatsTiersAmongSilentFeeds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped by -short: it simulates three million polls")
	}
	const learn, score = 14, 14
	for i, most := range []float64{0.80, 0.67} {
		k := Kinds()[i]
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			w := withSilent(k.Generate(400, begin, learn+score+1, 1), learn+score+1, 1)
			results, err := Compare(t.Context(), w, Span{begin, learn, score}, []string{policy.KindTiers, policy.KindPrice}, 225*time.Second, 1)
			if err != nil {
				t.Fatal(err)
			}
			tiers, price := results[0], results[1]
			t.Logf("mean %.0f of %.0f s, 95 %% %.0f of %.0f s, of feeds %.0f of %.0f s", price.Mean, tiers.Mean, price.P95, tiers.P95, price.FeedMean, tiers.FeedMean)
			if price.Mean > most*tiers.Mean || price.P95 > tiers.P95 || price.FeedMean > tiers.FeedMean {
				t.Errorf("an item waits %.0f s, 95 %% at most %.0f s, those of a feed %.0f s; with tiers %.0f, %.0f, %.0f",
					price.Mean, price.P95, price.FeedMean, tiers.Mean, tiers.P95, tiers.FeedMean)
			}
		})
	}
}
