package storage

import (
	"context"
	"slices"
	"time"
)

// Activities is the part of a [Store] that counts what came when.
type Activities interface {
	// Activity counts the items first seen at or after since and before until, as
	// a [Tally] in the given zone does. It reads each of them, some
	// microseconds' work and eight bytes: ask for a day at a time.
	Activity(ctx context.Context, since, until time.Time, zone *time.Location) (Activity, error)
}

// An Activity says what items came in a stretch of time.
type Activity struct {
	Items int64 `json:"items"`
	Spam  int64 `json:"spam"` // of these

	Seen      Week `json:"seen"`      // when they were first seen
	Published Week `json:"published"` // when those were published that say so

	Timely int64 `json:"timely"` // items that Lag is of
	Lag    Lag   `json:"lag"`

	Categories map[string]int64 `json:"categories"` // of items that are no spam, by name; an item may count in several
	Languages  map[string]int64 `json:"languages"`  // by code; empty if unknown

	Toned int64   `json:"toned"` // items with a sentiment
	Tone  float64 `json:"tone"`  // its sum over these, each -1 to 1
}

// A Week counts by weekday and hour, of the zone that was asked for.
type Week [7][24]int64

// A Lag says how long after their publication items were first seen: half of them
// sooner than P50, and so on. It is of items that say when they were published,
// but for those from before their feed was added, which nobody could have seen.
type Lag struct {
	P50 time.Duration `json:"p50"`
	P95 time.Duration `json:"p95"`
	P99 time.Duration `json:"p99"`
}

// An Arrival is what an [Activity] is made of: one item.
type Arrival struct {
	FirstSeen, Published time.Time
	Assumed              bool      // Published is only FirstSeen
	Added                time.Time // its feed
	Spam                 bool
	Language             string
	Sentiment            float64
	Categories           []string
}

// A Tally adds arrivals up.
type Tally struct {
	zone *time.Location
	sum  Activity
	lags []time.Duration
}

// NewTally returns one that reckons hours and weekdays in the zone.
func NewTally(zone *time.Location) *Tally {
	return &Tally{zone: zone, sum: Activity{Categories: map[string]int64{}, Languages: map[string]int64{}}}
}

// Add counts one more arrival.
func (t *Tally) Add(a Arrival) {
	t.sum.Items++
	t.sum.Seen.add(a.FirstSeen.In(t.zone))
	t.sum.Languages[a.Language]++
	if !a.Assumed {
		t.sum.Published.add(a.Published.In(t.zone))
	}
	if !a.Assumed && !a.Published.Before(a.Added) {
		t.lags = append(t.lags, max(0, a.FirstSeen.Sub(a.Published)))
	}
	if a.Sentiment != 0 {
		t.sum.Toned++
		t.sum.Tone += a.Sentiment
	}
	if a.Spam {
		t.sum.Spam++
		return
	}
	for _, name := range a.Categories {
		t.sum.Categories[name]++
	}
}

// Activity returns what came of all that was added so far.
func (t *Tally) Activity() Activity {
	slices.Sort(t.lags)
	t.sum.Timely = int64(len(t.lags))
	t.sum.Lag = Lag{P50: rank(t.lags, 50), P95: rank(t.lags, 95), P99: rank(t.lags, 99)}
	return t.sum
}

func (w *Week) add(t time.Time) { w[t.Weekday()][t.Hour()]++ }

// rank returns the smallest of the values, which are sorted, that so many percent
// of them do not exceed; 0 of none.
func rank(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

// Add adds up what came in two stretches of time. Lags can't be added: that of the
// sum is zero.
func (a Activity) Add(b Activity) Activity {
	a.Items, a.Spam, a.Timely = a.Items+b.Items, a.Spam+b.Spam, a.Timely+b.Timely
	a.Toned, a.Tone, a.Lag = a.Toned+b.Toned, a.Tone+b.Tone, Lag{}
	for day := range a.Seen {
		for hour := range a.Seen[day] {
			a.Seen[day][hour] += b.Seen[day][hour]
			a.Published[day][hour] += b.Published[day][hour]
		}
	}
	a.Categories, a.Languages = both(a.Categories, b.Categories), both(a.Languages, b.Languages)
	return a
}

func both(a, b map[string]int64) map[string]int64 {
	sum := make(map[string]int64, len(a)+len(b))
	for _, counts := range []map[string]int64{a, b} {
		for name, n := range counts {
			sum[name] += n
		}
	}
	return sum
}
