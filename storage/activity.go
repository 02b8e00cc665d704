package storage

import (
	"context"
	"slices"
	"time"
)

// Activities is the part of a [Store] that counts arriving items over time.
type Activities interface {
	// Activity counts the items first seen at or after since and before until, as a [Tally] in the given zone
	// does. It reads every item, which takes some microseconds and eight bytes each: request one day at a
	// time, and cache the result.
	Activity(ctx context.Context, since, until time.Time, zone *time.Location) (Activity, error)
}

// An Activity contains statistics of the items that arrived in a period.
type Activity struct {
	Items int64 `json:"items"`
	Spam  int64 `json:"spam"` // of these

	Seen      Week `json:"seen"`      // by FirstSeen
	Published Week `json:"published"` // by Published, of items that state a date

	LagItems int64 `json:"timely"` // number of items in Lag
	Lag      Lag   `json:"lag"`

	Categories map[string]int64 `json:"categories"` // number of items by category, without spam; an item counts in each of its categories
	Languages  map[string]int64 `json:"languages"`  // by code; empty if unknown

	SentimentItems int64   `json:"toned"` // items with a sentiment
	SentimentSum   float64 `json:"tone"`  // sum of their sentiments, each -1 to 1
}

// A Week counts items by weekday and hour in the requested zone.
type Week [7][24]int64

// A Lag contains percentiles of the delay between publication and first sight. It covers items that state a
// publication date no earlier than the addition of their feed.
type Lag struct {
	P50 time.Duration `json:"p50"`
	P95 time.Duration `json:"p95"`
	P99 time.Duration `json:"p99"`
}

// An Arrival contains the fields of one item that a [Tally] counts.
type Arrival struct {
	FirstSeen, Published time.Time
	Assumed              bool      // Published is only FirstSeen
	Added                time.Time // when its feed was added
	Spam                 bool
	Language             string
	Sentiment            float64
	Categories           []string
}

// A Tally adds up arrivals to an [Activity].
type Tally struct {
	zone *time.Location
	sum  Activity
	lags []time.Duration
}

// NewTally returns an empty Tally for the hours and weekdays of the zone.
func NewTally(zone *time.Location) *Tally {
	return &Tally{zone: zone, sum: Activity{Categories: map[string]int64{}, Languages: map[string]int64{}}}
}

// Add counts one arrival.
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
		t.sum.SentimentItems++
		t.sum.SentimentSum += a.Sentiment
	}
	if a.Spam {
		t.sum.Spam++
		return
	}
	for _, name := range a.Categories {
		t.sum.Categories[name]++
	}
}

// Activity returns the statistics of all added arrivals.
func (t *Tally) Activity() Activity {
	slices.Sort(t.lags)
	t.sum.LagItems = int64(len(t.lags))
	t.sum.Lag = Lag{P50: percentile(t.lags, 50), P95: percentile(t.lags, 95), P99: percentile(t.lags, 99)}
	return t.sum
}

func (w *Week) add(t time.Time) { w[t.Weekday()][t.Hour()]++ }

// percentile returns the given percentile of the sorted values, 0 for an empty list.
func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

// Add returns the sum of two periods. Its Lag is zero, because percentiles cannot be added.
func (a Activity) Add(b Activity) Activity {
	a.Items, a.Spam, a.LagItems = a.Items+b.Items, a.Spam+b.Spam, a.LagItems+b.LagItems
	a.SentimentItems, a.SentimentSum, a.Lag = a.SentimentItems+b.SentimentItems, a.SentimentSum+b.SentimentSum, Lag{}
	for day := range a.Seen {
		for hour := range a.Seen[day] {
			a.Seen[day][hour] += b.Seen[day][hour]
			a.Published[day][hour] += b.Published[day][hour]
		}
	}
	a.Categories, a.Languages = sumCounts(a.Categories, b.Categories), sumCounts(a.Languages, b.Languages)
	return a
}

func sumCounts(a, b map[string]int64) map[string]int64 {
	sum := make(map[string]int64, len(a)+len(b))
	for _, counts := range []map[string]int64{a, b} {
		for name, n := range counts {
			sum[name] += n
		}
	}
	return sum
}
