package policy

import (
	"math"
	"slices"
	"time"
)

const (
	// halfLife is the age at which an item counts half for the rate.
	halfLife = 14 * day
	day      = 24 * time.Hour

	// memory is how many days a model that has watched a feed for ever has in
	// mind: the integral of the weights of all ages.
	memory = 14 / math.Ln2

	// leastWatch is taken for the time that a document spans that was made at
	// one stroke, so that its rate is finite.
	leastWatch = time.Hour

	// atOnce is how close items follow one another that came at once.
	atOnce = time.Minute

	// byRequest is the age up to which dates may be those of the request: a
	// server that dates entries "now" gives all of them the same age, none.
	byRequest = time.Minute
)

// A Model is what is known of when a feed publishes: how much, at what times of
// its day and on what days. The zero Model knows nothing. It holds no pointers
// and takes about 250 bytes.
type Model struct {
	at     int64   // until when all is known, Unix seconds; 0 if nothing is
	newest int64   // date of the newest item, Unix seconds; 0 if unknown
	items  float32 // until at, each weighted by its age
	days   float32 // watched until at, each weighted by its age
	bursts float32 // sum of the squares of how many items came at once, weighted as items

	profile profile
	zone    int16 // minutes east of UTC
	zoned   bool  // whether zone is known
}

// Learn takes the dates of all entries of a document into account and reports
// whether they tell anything; if not, [Model.LearnFirstSeen] may. Zero dates,
// those in the future and those up to the newest one learned before say
// nothing, so learning the same twice is harmless. Nor do dates that all are
// the time of the request. Dates with an offset from UTC tell the feed's zone.
func (m *Model) Learn(dates []time.Time, now time.Time) (told bool) {
	seconds := make([]int64, 0, 64)
	for _, d := range dates {
		if !d.IsZero() && !d.After(now) && d.Unix() > 0 {
			seconds = append(seconds, d.Unix())
		}
	}
	if len(seconds) == 0 {
		return false
	}
	slices.Sort(seconds)
	if oldest := seconds[0]; len(seconds) > 1 && now.Unix()-oldest <= int64(byRequest/time.Second) {
		return false
	}
	m.learnZone(dates)
	fresh := 1
	if m.at == 0 {
		// Of the time before the oldest entry the document tells nothing: it
		// marks the beginning, and only the others are counted.
		m.at = min(seconds[0], now.Add(-leastWatch).Unix())
		m.profile.add(m.local(time.Unix(seconds[0], 0)), m.local(now))
	} else {
		fresh, _ = slices.BinarySearch(seconds, m.newest+1)
	}
	m.watch(now)
	together := 0
	for i, s := range seconds[fresh:] {
		worth := weight(m.at - s)
		m.items += float32(worth)
		// The n-th of those that come at once adds n²-(n-1)².
		if i == 0 || s-seconds[fresh+i-1] > int64(atOnce/time.Second) {
			together = 0
		}
		m.bursts += float32(worth) * float32(2*together+1)
		together++
		m.profile.add(m.local(time.Unix(s, 0)), m.local(now))
	}
	m.newest = max(m.newest, seconds[len(seconds)-1])
	return true
}

// LearnFirstSeen takes into account that a poll now found n new entries whose
// dates tell nothing; polled is when the poll before it was, zero if there was
// none. Then n says only how long the document is.
//
// For a Poisson process that is watched at intervals whose items are counted,
// the most likely rate is the items over the time watched, which the model
// keeps. (Where only change is seen it is the root that LambdaCrawl solves for,
// Kolobov et al., 2019; counts tell more.)
func (m *Model) LearnFirstSeen(n int, polled, now time.Time) {
	if m.at == 0 {
		if polled.IsZero() || polled.After(now) {
			m.at = now.Unix()
			return
		}
		m.at = polled.Unix()
	}
	m.watch(now)
	if n <= 0 {
		return
	}
	m.items += float32(n)
	m.bursts += float32(n) // whether they came at once is not known
	m.newest = max(m.newest, now.Unix())
	if gap := now.Sub(polled); gap >= 0 && gap <= time.Hour {
		for range n {
			m.profile.add(m.local(now.Add(-gap/2)), m.local(now))
		}
	}
}

// watch counts the time until now as watched.
func (m *Model) watch(now time.Time) {
	if now.Unix() <= m.at {
		return
	}
	items, days := m.seen(now)
	m.bursts *= float32(weight(now.Unix() - m.at))
	m.items, m.days, m.at = float32(items), float32(days), now.Unix()
}

// seen returns the weighted items and days as they are at a time until which
// the feed has been watched, with nothing new since the model learned last.
func (m *Model) seen(now time.Time) (items, days float64) {
	if m.at == 0 {
		return 0, 0
	}
	kept := weight(max(0, now.Unix()-m.at))
	return float64(m.items) * kept, float64(m.days)*kept + memory*(1-kept)
}

// weight returns what an item counts that is so many seconds old.
func weight(age int64) float64 {
	return math.Exp2(-float64(age) / halfLife.Seconds())
}

// Rate returns how many items a day the feed has, seen from a time until which
// it has been watched; 0 if nothing is known. A tenth of a day with few items
// is added to what was seen, so that one look at a short document does not make
// the rate infinite or nothing.
func (m *Model) Rate(now time.Time) float64 {
	if m.at == 0 {
		return 0
	}
	return m.rate(now, 0.2, 0.1)
}

// rate is Rate with another prior, see [gamma].
func (m *Model) rate(now time.Time, prior, worth float64) float64 {
	items, days := m.seen(now)
	return gamma(items, days, prior, worth)
}

// gamma returns the mean rate of a Poisson process of which so many items were
// seen in so many days, where before it was thought to have the rate prior, for
// reasons worth so many days of watching: that of a Gamma distribution.
func gamma(items, days, prior, worth float64) float64 {
	return (prior*worth + items) / (worth + days)
}

// Silent returns for how long the feed has had nothing new; 0 if unknown.
func (m *Model) Silent(now time.Time) time.Duration {
	if m.newest == 0 {
		return 0
	}
	return max(0, now.Sub(time.Unix(m.newest, 0)))
}

// burst returns among how many items, itself included, an item comes at once on
// average; 1 if nothing is known.
func (m *Model) burst() float64 {
	if m.items <= 0 {
		return 1
	}
	return max(1, float64(m.bursts)/float64(m.items))
}
