package simulate

import (
	"math"
	"slices"
	"sort"
	"time"
)

// origin is the approximate publication time of the first entries of all feeds. It does not depend on the
// start of a server, so the feeds are always the same.
var origin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// The working day, in which feeds publish most entries.
const (
	dayBegins  = 8. / 24
	dayEnds    = 18. / 24
	shareByDay = 0.7
)

// A rhythm computes the publication time of each entry of a feed. Entries are numbered from 0; nothing is
// stored.
type rhythm struct {
	seed  uint64
	slots bool          // at fixed times of the day
	batch int           // entries published together
	rate  float64       // batches a day
	zone  time.Duration // offset of the feed's time zone from UTC
}

// newRhythm returns the rhythm of a feed with a rate in items a day: of five feeds three publish at random
// times, one in batches, and one at fixed times.
func newRhythm(seed uint64, rate float64, zone time.Duration) rhythm {
	r := rhythm{seed: seed, batch: 1, rate: rate, zone: zone}
	switch draw(seed, 1) % 5 {
	case 3:
		r.batch = 2 + int(draw(seed, 2)%7)
		r.rate /= float64(r.batch)
	case 4:
		r.slots = true
	}
	return r
}

// published returns the number of entries at a time.
func (r rhythm) published(at time.Time) int {
	day, time := math.Modf(at.Add(r.zone).Sub(origin).Hours() / 24)
	if day < 0 {
		return 0
	}
	if r.slots {
		return r.filled(int(day), time)
	}
	run, within := math.Modf((day + worked(time)) * r.rate / runLength)
	draws := r.run(int(run))
	return r.batch * (int(run)*runLength + sort.Search(runLength, func(i int) bool { return draws[i] > within }))
}

// at returns the publication time of an entry, to the second.
func (r rhythm) at(seq int) time.Time {
	batch := seq / r.batch
	var days float64
	if r.slots {
		days = r.slot(batch)
	} else {
		day, share := math.Modf((float64(batch/runLength) + r.run(batch / runLength)[batch%runLength]) * runLength / r.rate)
		days = day + timeOf(share)
	}
	return origin.Add(time.Duration(days*24*float64(time.Hour)) - r.zone).Truncate(time.Second)
}

// runLength is the number of batches drawn together: as many arrive in the time that they take on average, at
// random times within it. It is large enough to look random, and small enough to be drawn for each request.
const runLength = 16

// run returns the times of a run's batches within the run, from 0 to 1, in order.
func (r rhythm) run(n int) [runLength]float64 {
	var draws [runLength]float64
	for i := range draws {
		draws[i] = unit(draw(r.seed, 3, uint64(n), uint64(i)))
	}
	slices.Sort(draws[:])
	return draws
}

// perDay returns the number of fixed times a day, or the number of days between them.
func (r rhythm) perDay() (slots, days int) {
	if r.rate >= 1 {
		return int(math.Round(r.rate)), 1
	}
	return 1, int(math.Round(1 / r.rate))
}

// slot returns the n-th fixed time, in days since the origin.
func (r rhythm) slot(n int) float64 {
	slots, days := r.perDay()
	day := n / slots * days
	if days > 1 {
		day += int(draw(r.seed, 4) % uint64(days))
	}
	share := (float64(n%slots) + unit(draw(r.seed, 5))) / float64(slots)
	return float64(day) + math.Floor(timeOf(share)*24*60)/(24*60) // truncated to the minute
}

// filled returns the number of fixed times that have passed by a time of a day.
func (r rhythm) filled(day int, time float64) int {
	slots, days := r.perDay()
	before := max(0, day/days-1) * slots
	now := float64(day) + time
	return before + sort.Search(2*slots, func(i int) bool { return r.slot(before+i) > now })
}

// worked returns the share of a day's entries that are published by a time of the day, and timeOf is its
// inverse: both from 0 to 1.
func worked(time float64) float64 {
	return bend(time, dayBegins, dayEnds, nightly(dayBegins), nightly(dayBegins)+shareByDay)
}

func timeOf(share float64) float64 {
	return bend(share, nightly(dayBegins), nightly(dayBegins)+shareByDay, dayBegins, dayEnds)
}

// nightly returns the share of a day's entries published in a part of its night.
func nightly(time float64) float64 { return time * (1 - shareByDay) / (1 - (dayEnds - dayBegins)) }

// bend is the piecewise linear function through (0, 0), (x1, y1), (x2, y2) and (1, 1).
func bend(x, x1, x2, y1, y2 float64) float64 {
	switch {
	case x < x1:
		return x / x1 * y1
	case x < x2:
		return y1 + (x-x1)/(x2-x1)*(y2-y1)
	}
	return y2 + (x-x2)/(1-x2)*(1-y2)
}
