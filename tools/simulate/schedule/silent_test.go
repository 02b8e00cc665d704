package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// withSilent adds to each feed of a world another that fell silent: half of them permanently, at some time in
// the two years before, the others for one to many months at a time, with a few items in between.
func withSilent(w World, s Span) World {
	const history = 730
	r := rand.New(rand.NewPCG(1, 2))
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
			for day := -history; day <= s.Learn+s.Score; day += 30 + int(60*r.ExpFloat64()) {
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

func TestPrice_BeatsTiersWithSilentFeeds(t *testing.T) {
	t.Parallel()
	span := Span{Begin: begin, Learn: 14, Score: 14}
	for i, most := range []float64{0.80, 0.67} {
		k := Kinds()[i]
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			tiers, price := compare(t, withSilent(generate(k, 400, span), span), span)
			if price.Mean > most*tiers.Mean || price.P95 > tiers.P95 || price.FeedMean > tiers.FeedMean {
				t.Errorf("an item waits %.0f s, 95 %% at most %.0f s, those of a feed %.0f s; with tiers %.0f, %.0f, %.0f",
					price.Mean, price.P95, price.FeedMean, tiers.Mean, tiers.P95, tiers.FeedMean)
			}
		})
	}
}
