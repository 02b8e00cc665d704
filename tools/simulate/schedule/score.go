package schedule

import (
	"slices"
	"time"
)

// batchTime is the time after its publication within which a pushed-out item counts as unavoidable: it was part
// of a batch larger than the document.
const batchTime = 60

// A score counts the results of the scored days.
type score struct {
	polls           int // in all days
	requests, hits  int
	lost, avoidable int
	delays          []int32 // seconds, by found item
	feeds           []mean  // by feed
	hours           []int   // requests
}

type mean struct {
	sum   float64
	count int
}

func newScore(w World, s Span) score {
	return score{feeds: make([]mean, len(w.Feeds)), hours: make([]int, 24*s.Score)}
}

// find records an item found a number of seconds after its publication.
func (s *score) find(feed int, delay int64) {
	s.delays = append(s.delays, int32(delay))
	s.feeds[feed].sum += float64(delay)
	s.feeds[feed].count++
}

// lose records a lost item that was in the document for a number of seconds.
func (s *score) lose(seconds int64) {
	s.lost++
	if seconds > batchTime {
		s.avoidable++
	}
}

// A Result contains the scores of a policy in a world. Delays are per found item, in seconds, except
// FeedMean, the mean of the feeds' means. Shares are from 0 to 1.
type Result struct {
	World    string  `json:"world"`
	Policy   string  `json:"policy"`
	Seed     uint64  `json:"seed"`
	Feeds    int     `json:"feeds"`
	Requests float64 `json:"requests_per_day"`
	PerItem  float64 `json:"requests_per_item"`
	HitRate  float64 `json:"hit_rate"` // share of requests with a new item
	Items    int     `json:"items"`    // published in the scored days
	Mean     float64 `json:"delay_mean"`
	Median   float64 `json:"delay_median"`
	P95      float64 `json:"delay_p95"`
	FeedMean float64 `json:"delay_feed_mean"`
	Within5  float64 `json:"within_5_minutes"` // share of found items
	Lost     float64 `json:"lost"`             // share of items
	// Avoidable is the share of lost items outside batches larger than the document.
	Avoidable float64 `json:"lost_avoidable"`
	// Hourly are the requests of each scored hour.
	Hourly []int `json:"requests_by_hour,omitempty"`
	// Delays are percentiles, from 0 to 100.
	Delays []float64 `json:"delay_percentiles,omitempty"`
	// Polls counts all simulated polls; Took is the real duration.
	Polls   int           `json:"polls"`
	Elapsed time.Duration `json:"took"`
}

func (s *score) result(w World, span Span, elapsed time.Duration) Result {
	r := Result{World: w.Name, Feeds: len(w.Feeds), Elapsed: elapsed, Polls: s.polls, Hourly: s.hours}
	found := len(s.delays)
	r.Items = found + s.lost
	r.Requests = float64(s.requests) / float64(span.Score)
	r.PerItem = ratio(s.requests, found)
	r.HitRate = ratio(s.hits, s.requests)
	r.Lost = ratio(s.lost, r.Items)
	r.Avoidable = ratio(s.avoidable, r.Items)
	slices.Sort(s.delays)
	early, _ := slices.BinarySearch(s.delays, 5*60+1)
	r.Within5 = ratio(early, found)
	r.Mean = s.mean()
	if found > 0 {
		for i := range 101 {
			r.Delays = append(r.Delays, float64(s.delays[(found-1)*i/100]))
		}
		r.Median, r.P95 = r.Delays[50], r.Delays[95]
	}
	r.FeedMean = s.feedMean()
	return r
}

// ratio returns a/b, or 0 if b is 0.
func ratio(a, b int) float64 { return float64(a) / float64(max(b, 1)) }

func (s *score) mean() float64 {
	var all mean
	for _, f := range s.feeds {
		all.sum, all.count = all.sum+f.sum, all.count+f.count
	}
	return all.sum / float64(max(all.count, 1))
}

func (s *score) feedMean() float64 {
	var all mean
	for _, f := range s.feeds {
		if f.count > 0 {
			all.sum, all.count = all.sum+f.sum/float64(f.count), all.count+1
		}
	}
	return all.sum / float64(max(all.count, 1))
}
