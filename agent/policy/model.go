package policy

import (
	"slices"
	"time"
)

const (
	day = 24 * time.Hour

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
// and takes about 260 bytes.
type Model struct {
	at     int64   // until when all is known, Unix seconds; 0 if nothing is
	newest int64   // date of the newest item, Unix seconds; 0 if unknown
	recent tally   // until at
	usual  tally   // until at
	bursts float32 // sum of the squares of how many items came at once, weighted as recent

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
		m.recent.add(1, m.at-s, recently)
		m.usual.add(1, m.at-s, usually)
		// The n-th of those that come at once adds n²-(n-1)².
		if i == 0 || s-seconds[fresh+i-1] > int64(atOnce/time.Second) {
			together = 0
		}
		m.bursts += float32(weight(m.at-s, recently) * float64(2*together+1))
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
	m.recent.add(n, 0, recently)
	m.usual.add(n, 0, usually)
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
	m.bursts *= float32(weight(now.Unix()-m.at, recently))
	m.recent, m.usual = m.seen(now)
	m.at = now.Unix()
}

// seen returns the tallies as they are at a time until which the feed has been
// watched, with nothing new since the model learned last.
func (m *Model) seen(now time.Time) (recent, usual tally) {
	if m.at == 0 {
		return tally{}, tally{}
	}
	since := now.Unix() - m.at
	return m.recent.after(since, recently), m.usual.after(since, usually)
}

// Rate returns how many items a day the feed has, seen from a time until which
// it has been watched; 0 if nothing is known. A tenth of a day with few items
// is added to what was seen, so that one look at a short document does not make
// the rate infinite or nothing.
func (m *Model) Rate(now time.Time) float64 {
	if m.at == 0 {
		return 0
	}
	recent, _ := m.seen(now)
	return recent.rate(0.2, 0.1)
}

// likely returns how many items a day are expected of the feed, see [likely].
func (m *Model) likely(now time.Time, prior float64) float64 {
	recent, usual := m.seen(now)
	return likely(recent, usual, prior)
}

// Newest returns the date of the newest item learned; zero if there is none.
func (m *Model) Newest() time.Time {
	if m.newest == 0 {
		return time.Time{}
	}
	return time.Unix(m.newest, 0).UTC()
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
	if m.recent.items <= 0 {
		return 1
	}
	return max(1, float64(m.bursts)/float64(m.recent.items))
}
