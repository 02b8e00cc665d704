// Package schedule compares polling policies on generated or recorded feeds: an event simulation without HTTP
// that runs the product's policies. [Run] simulates one policy in a [World], [Compare] several with equal
// numbers of requests. Memory grows with the number of items of the world.
package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A World is a set of feeds with their publication times.
type World struct {
	Name  string
	Feeds []Feed
}

// A Feed is a feed of a world.
type Feed struct {
	Published []int64 // Unix seconds, ascending
	Window    int     // number of newest entries in its document
}

// A Kind is a kind of generated world: the rates of its feeds are log-normal.
type Kind struct {
	Name       string
	mean, sdev float64 // of the logarithm of items a day
}

// Kinds returns the kinds of worlds.
//
// K has the shares of D. Kiryanov, A Scalable Aggregation System Designed to Process 50,000 RSS Feeds, 2022:
// 5 % of feeds with more than 8 items a day and 19 % with more than 3. T is as uneven as the feeds of N.
// Travers et al., RSS feeds behavior analysis, structure and vocabulary, 2014: 17 % of them give 96 % of the
// items; as many as in K have more than 8 a day.
func Kinds() []Kind {
	return []Kind{
		{Name: "K", mean: -0.024, sdev: 1.279},
		{Name: "T", mean: -2.370, sdev: 2.705},
	}
}

// Source: the same paper of Kiryanov: 70 % of items fall between 8 and 18 o'clock.
const (
	workFrom, workTo = 8, 18
	workShare        = 0.7
)

const (
	daySeconds = 24 * 3600
	before     = 28   // days of items before the world's beginning
	mostRate   = 2000 // items a day
)

// Generate returns a world of n feeds that publishes for a number of days from begin on, a midnight in Unix
// seconds, and did so before. Equal seeds give equal worlds. Of the feeds 60 % publish at random times of the
// day, 20 % at fixed times and 20 % in batches; their documents contain 10 to 50 entries.
func (k Kind) Generate(n int, begin int64, days int, seed uint64) World {
	w := World{Name: k.Name, Feeds: make([]Feed, n)}
	for i := range w.Feeds {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		p := publisher{Rand: r, rate: min(math.Exp(k.mean+k.sdev*r.NormFloat64()), mostRate)}
		habit := p.random
		switch x := r.Float64(); {
		case x < 0.2:
			habit = p.slots()
		case x < 0.4:
			habit = p.batches()
		}
		f := &w.Feeds[i]
		f.Window = 10 + r.IntN(41)
		for day := -before; day < days; day++ {
			for _, t := range habit() {
				f.Published = append(f.Published, begin+int64(day)*daySeconds+t)
			}
		}
		slices.Sort(f.Published)
	}
	return w
}

// A publisher draws the publication times of a feed with a rate, day by day.
type publisher struct {
	*rand.Rand
	rate float64 // items a day
}

// moment returns a random second of the day, by the distribution of items.
func (p *publisher) moment() int64 {
	const work = workTo - workFrom
	if p.Float64() < workShare {
		return workFrom*3600 + p.Int64N(work*3600)
	}
	return (workTo*3600 + p.Int64N((24-work)*3600)) % daySeconds
}

// count returns a random number with a mean.
func (p *publisher) count(mean float64) int {
	n := 0
	for t := p.ExpFloat64(); t < mean; t += p.ExpFloat64() {
		n++
	}
	return n
}

// random returns a day of a feed that publishes at random times.
func (p *publisher) random() []int64 {
	times := make([]int64, p.count(p.rate))
	for i := range times {
		times[i] = p.moment()
	}
	return times
}

// slots returns the days of a feed that publishes at fixed times, up to three minutes late; with less than an
// item for each time, some are skipped.
func (p *publisher) slots() func() []int64 {
	const late = 180
	slots := make([]int64, max(1, int(math.Round(p.rate))))
	for i := range slots {
		slots[i] = p.moment()
	}
	each := p.rate / float64(len(slots))
	return func() []int64 {
		var times []int64
		for _, s := range slots {
			for left := each; p.Float64() < left; left-- {
				times = append(times, s+p.Int64N(late))
			}
		}
		return times
	}
}

// batches returns the days of a feed that publishes batches of 2 to 10 items on average, at random times.
func (p *publisher) batches() func() []int64 {
	size := 2 + 8*p.Float64()
	return func() []int64 {
		var times []int64
		for range p.count(p.rate / size) {
			t := p.moment()
			times = append(times, t)
			for p.Float64() > 1/size {
				times = append(times, t)
			}
		}
		return times
	}
}
