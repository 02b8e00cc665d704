package policy

import (
	"slices"
	"time"
)

const (
	day = 24 * time.Hour

	// minWatch is the period assumed for a document whose entries all have one date, so that its rate is
	// finite.
	minWatch = time.Hour

	// burstGap is the longest gap between two items of a burst.
	burstGap = time.Minute

	// requestAge bounds the age of dates that a server may have set to the time of the request: such a server
	// gives all entries the age 0.
	requestAge = time.Minute
)

// A Model estimates how many items a feed publishes, and at what times of day and on what weekdays. The zero
// Model is empty. It contains no pointers and takes about 260 bytes.
type Model struct {
	watchedUntil int64        // end of the observed period, Unix seconds; 0 if empty
	newest       int64        // date of the newest item, Unix seconds; 0 if none
	recent       decayedCount // at watchedUntil
	longTerm     decayedCount // at watchedUntil
	burstSquares float32      // sum of the squares of burst sizes, weighted as recent

	profile profile
	zone    int16 // minutes east of UTC
	hasZone bool  // whether zone is set
}

// Learn updates the model with the dates of all entries of a document and reports whether they were usable;
// if not, the caller may use [Model.LearnFirstSeen]. It ignores zero dates, future dates and dates up to the
// newest one learned before, so learning a document twice is harmless. It also ignores documents whose dates
// all are the time of the request. Dates with an offset from UTC set the feed's zone.
func (m *Model) Learn(dates []time.Time, now time.Time) (informative bool) {
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
	if oldest := seconds[0]; len(seconds) > 1 && now.Unix()-oldest <= int64(requestAge/time.Second) {
		return false
	}
	m.learnZone(dates)
	fresh := 1
	if m.watchedUntil == 0 {
		// A first document contains no information about the time before its oldest entry. That entry starts
		// the observed period; only later entries are counted.
		m.watchedUntil = min(seconds[0], now.Add(-minWatch).Unix())
		m.profile.add(m.local(time.Unix(seconds[0], 0)), m.local(now))
	} else {
		fresh, _ = slices.BinarySearch(seconds, m.newest+1)
	}
	m.watchUntil(now)
	together := 0
	for i, s := range seconds[fresh:] {
		m.recent.add(1, m.watchedUntil-s, recentHalfLife)
		m.longTerm.add(1, m.watchedUntil-s, longTermHalfLife)
		// The n-th item of a burst adds n²-(n-1)².
		if i == 0 || s-seconds[fresh+i-1] > int64(burstGap/time.Second) {
			together = 0
		}
		m.burstSquares += float32(weight(m.watchedUntil-s, recentHalfLife) * float64(2*together+1))
		together++
		m.profile.add(m.local(time.Unix(s, 0)), m.local(now))
	}
	m.newest = max(m.newest, seconds[len(seconds)-1])
	return true
}

// LearnFirstSeen updates the model with n new entries without usable dates, found by a poll now. polled is
// the time of the previous poll; if it is zero, n is only the length of the document and is not counted.
//
// For a Poisson process observed at intervals whose items are counted, the most likely rate is the items over
// the time observed, which the model stores. (If only changes are observed, it is the root that LambdaCrawl
// solves for, Kolobov et al., 2019; counts contain more information.)
func (m *Model) LearnFirstSeen(n int, polled, now time.Time) {
	if m.watchedUntil == 0 {
		if polled.IsZero() || polled.After(now) {
			m.watchedUntil = now.Unix()
			return
		}
		m.watchedUntil = polled.Unix()
	}
	m.watchUntil(now)
	if n <= 0 {
		return
	}
	m.recent.add(n, 0, recentHalfLife)
	m.longTerm.add(n, 0, longTermHalfLife)
	m.burstSquares += float32(n) // dates are missing, so each counts as a burst of one
	m.newest = max(m.newest, now.Unix())
	if gap := now.Sub(polled); gap >= 0 && gap <= time.Hour {
		for range n {
			m.profile.add(m.local(now.Add(-gap/2)), m.local(now))
		}
	}
}

// watchUntil extends the observed period to now.
func (m *Model) watchUntil(now time.Time) {
	if now.Unix() <= m.watchedUntil {
		return
	}
	m.burstSquares *= float32(weight(now.Unix()-m.watchedUntil, recentHalfLife))
	m.recent, m.longTerm = m.countsAt(now)
	m.watchedUntil = now.Unix()
}

// countsAt returns the counts at a later time, if nothing was published since the last update.
func (m *Model) countsAt(now time.Time) (recent, usual decayedCount) {
	if m.watchedUntil == 0 {
		return decayedCount{}, decayedCount{}
	}
	since := now.Unix() - m.watchedUntil
	return m.recent.decayed(since, recentHalfLife), m.longTerm.decayed(since, longTermHalfLife)
}

// Rate returns the feed's rate at the end of an observed period, in items a day; 0 if the model is empty. A
// tenth of a day with few items is added to the observed counts, so that one short document does not yield an
// infinite or zero rate.
func (m *Model) Rate(now time.Time) float64 {
	if m.watchedUntil == 0 {
		return 0
	}
	recent, _ := m.countsAt(now)
	return recent.rate(0.2, 0.1)
}

// expectedRate returns the feed's expected rate in items a day; see the function [expectedRate].
func (m *Model) expectedRate(now time.Time, prior float64) float64 {
	recent, usual := m.countsAt(now)
	return expectedRate(recent, usual, prior)
}

// Newest returns the date of the newest item learned; zero if none.
func (m *Model) Newest() time.Time {
	if m.newest == 0 {
		return time.Time{}
	}
	return time.Unix(m.newest, 0).UTC()
}

// Silent returns the time since the newest item; 0 if none.
func (m *Model) Silent(now time.Time) time.Duration {
	if m.newest == 0 {
		return 0
	}
	return max(0, now.Sub(time.Unix(m.newest, 0)))
}

// burstSize returns the mean size of the burst in which an item arrives, at least 1.
func (m *Model) burstSize() float64 {
	if m.recent.items <= 0 {
		return 1
	}
	return max(1, float64(m.burstSquares)/float64(m.recent.items))
}
