package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A town is a set of feeds that publish at random, 70 % of it between 8 and 18 o'clock, polled by the price
// policy.
type town struct {
	*rand.Rand
	p     *price
	feeds []Feed
	rates []float64
	due   map[int64][]int // feeds by Unix second
	polls map[int]int     // by hour since the start
	plan  map[int]float64 // planned by the budget controller, by hour
}

func newTown(n int, s Settings, now time.Time) *town {
	w := &town{
		Rand: rand.New(rand.NewPCG(1, 2)), p: newPrice(s), feeds: make([]Feed, n), rates: make([]float64, n),
		due: map[int64][]int{}, polls: map[int]int{}, plan: map[int]float64{},
	}
	for i := range w.feeds {
		w.rates[i] = min(math.Exp(1.28*w.NormFloat64()), 100)
		w.feeds[i].Window = 50
		w.feeds[i].Model.Learn(w.items(i, now.Add(-42*day), now), now)
		at := now.Unix() + 1 + w.Int64N(3600)
		w.due[at] = append(w.due[at], i)
	}
	return w
}

// items returns the dates of a feed's items between two times.
func (w *town) items(i int, from, to time.Time) (dates []time.Time) {
	const day, night = 0.7 / 10, 0.3 / 14 // part of a day's items in an hour
	for at := from; ; {
		at = at.Add(time.Duration(w.ExpFloat64() / (w.rates[i] * day) * float64(time.Hour)))
		if !at.Before(to) {
			return dates
		}
		if h := at.Hour(); h >= 8 && h < 18 || w.Float64() < night/day {
			dates = append(dates, at)
		}
	}
}

// run simulates a number of hours.
func (w *town) run(from time.Time, hours int) {
	reports := 0
	for s := range hours * 3600 {
		now := from.Add(time.Duration(s) * time.Second)
		if s%600 == 0 {
			w.p.Recalibrate(func(yield func(*Feed) bool) {
				for i := range w.feeds {
					if !yield(&w.feeds[i]) {
						return
					}
				}
			}, now)
		}
		for _, i := range w.due[now.Unix()] {
			w.poll(i, now)
			reports++
			w.polls[s/3600]++
		}
		delete(w.due, now.Unix())
		w.plan[s/3600] += w.p.controller.plan[now.Hour()]
		if s%10 == 9 {
			w.p.RecordPolls(reports, now)
			reports = 0
		}
	}
}

func (w *town) poll(i int, now time.Time) {
	f := &w.feeds[i]
	if !f.Polled.IsZero() {
		f.Model.Learn(w.items(i, f.Polled, now), now)
	}
	f.Polled = now
	next := w.p.Next(f, now, 2*w.Float64()-1).Next.Unix()
	w.due[max(next, now.Unix()+1)] = append(w.due[max(next, now.Unix()+1)], i)
}

func TestBudget_KeptWithinTwoPercentAnHour(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped by -short: simulates two weeks with two million polls")
	}
	// Feeds that start in one hour stay together for about a week.
	const n, perDay, days = 4000, 40, 14
	budget := n * perDay / day.Seconds()
	midnight := monday.Truncate(day)
	w := newTown(n, Settings{Budget: budget}, midnight)
	w.run(midnight, days*24)
	spent := 0
	for hour := (days - 1) * 24; hour < days*24; hour++ {
		spent += w.polls[hour]
		if off := float64(w.polls[hour])/w.plan[hour] - 1; math.Abs(off) > 0.02 {
			t.Errorf("hour %d: got %d polls, %+.1f %% off the plan", hour%24, w.polls[hour], 100*off)
		}
	}
	if off := float64(spent)/(n*perDay) - 1; math.Abs(off) > 0.02 {
		t.Errorf("got %d polls in a day, %+.1f %% off the budget", spent, 100*off)
	}
}

func TestBudget_ChangesThePrice(t *testing.T) {
	t.Parallel()
	feeds := make([]*Feed, 100)
	for i := range feeds {
		feeds[i] = learned(float64(1+i%20), monday)
	}
	last := math.Inf(1)
	for _, budget := range []float64{0.01, 0.1, 0.3} {
		p := newPrice(Settings{Budget: budget})
		p.Recalibrate(slices.Values(feeds), monday)
		if p.controller.basePrice >= last {
			t.Errorf("budget of %v requests a second: got price %v, want less than %v for a smaller budget", budget, p.controller.basePrice, last)
		}
		last = p.controller.basePrice
	}
}

func TestBudget_DefaultEqualsTiers(t *testing.T) {
	t.Parallel()
	p, feeds := budgeted(Settings{}, 100, monday)
	tiers := newTiers(TierSettings{})
	tiers.Recalibrate(slices.Values(feeds), monday)
	want := 0.0
	for _, f := range feeds {
		want += tiers.pollsPerDay(tiers.tier(f.Model.Rate(monday), f.Pinned)) / day.Seconds()
	}
	if math.Abs(p.controller.budget/want-1) > 1e-9 {
		t.Errorf("got %v requests a second, want %v", p.controller.budget, want)
	}
}

func TestBudget_CorrectsThePriceSlowly(t *testing.T) {
	t.Parallel()
	p := newBudgetController()
	p.budget = 10
	p.updatePlan()
	now := monday
	p.record(0, now)
	for range 60 { // an hour of twice the budget
		now = now.Add(time.Minute)
		p.record(1200, now)
	}
	if p.logCorrection <= 0 || p.logCorrection > 0.3 {
		t.Errorf("after an hour of twice the budget: got the price %+.0f %% higher, want a small increase", 100*(math.Exp(p.logCorrection)-1))
	}
	for range 100 * 60 {
		now = now.Add(time.Minute)
		p.record(0, now)
	}
	if p.logCorrection != -maxCorrection {
		t.Errorf("after days without a poll: got correction %v, want its bound %v", p.logCorrection, -maxCorrection)
	}
	before := p.logCorrection
	p.record(1e6, now.Add(24*time.Hour))
	p.record(5, now)
	if p.logCorrection != before {
		t.Error("got a price change from polls of an unreported time")
	}
}
