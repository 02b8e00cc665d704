package plan

import (
	"time"

	"feedmesh/agent/role/schedule/policy"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Shift moves all times of the plan by d, after the system clock jumped by d: each feed stays due after the same
// time. Stored states are shifted with the next change of their feed; until then [Plan.Clamp] corrects them after
// a restart.
func (p *Plan) Shift(d time.Duration) {
	shift := func(times ...*time.Time) {
		for _, t := range times {
			if !t.IsZero() {
				*t = t.Add(d)
			}
		}
	}
	// All keys of the heaps move together, so their order remains.
	for _, f := range p.feeds {
		shift(&f.State.Next, &f.Dispatched)
	}
	for _, h := range p.hosts {
		shift(&h.notBefore, &h.PausedUntil, &h.LastRequest, &h.ProxySince, &h.ValidatorsChecked, &h.ValidatorsWrong)
		for id, at := range h.retryAfter {
			h.retryAfter[id] = at.Add(d)
		}
	}
	for _, k := range p.states {
		shift(&k.LastUsed, &k.ProbePassed, &k.ProbeSent, &k.RestUntil)
	}
	for i := range p.outage.results {
		shift(&p.outage.results[i].at)
	}
	shift(&p.outage.since, &p.outage.probe, &p.budget.at)
}

// clockTolerance is the difference of two agents' clocks that needs no correction.
const clockTolerance = time.Minute

// Clamp decides anew when feeds are due that were polled in the future, or are due later than any decision
// allows: a clock was wrong when their states were written. It returns these feeds.
func (p *Plan) Clamp(now time.Time) (clamped []*Feed) {
	latest := now.Add(policy.MaxWait + maxSpread + clockTolerance)
	for _, f := range p.feeds {
		s := f.State
		if s.Crawl != "" || s.Next.IsZero() || !s.Polled.After(now.Add(clockTolerance)) && !s.Next.After(latest) {
			continue
		}
		if s.Polled.After(now) {
			s.Polled = now
		}
		due := s.Next
		p.decide(f, 0, now)
		if s.Next.After(due) {
			p.change(f, func() { s.Next = due })
		}
		clamped = append(clamped, f)
	}
	for _, h := range p.hosts {
		if h.PausedUntil.After(latest) || h.LastRequest.After(now.Add(clockTolerance)) {
			h.PausedUntil, h.LastRequest = time.Time{}, earlierOf(h.LastRequest, now)
			h.notBefore = p.nextRequest(h)
			p.changedHosts[h] = true
			p.updateReady(h)
		}
	}
	return clamped
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// updateWrites updates the number of writes to the store. If it is lower than before, the store went back to an
// older state: its next poll fetches the document whole, because items of earlier ones may be missing.
func (p *Plan) updateWrites(f *Feed, o subjects.Observation) {
	s := f.State
	if o.Outcome != subjects.Stored || o.StoreWrites == 0 { // reported by an older agent
		return
	}
	if o.StoreWrites < s.StoreWrites {
		f.clearValidators()
		p.behind++
	}
	s.StoreWrites = o.StoreWrites
}

// StoreBehind reports whether TakeBehind returns more than 0.
func (p *Plan) StoreBehind() bool { return p.behind > 0 }

// TakeBehind returns the number of observations since the last call that showed that the store went back to an older
// state.
func (p *Plan) TakeBehind() int {
	n := p.behind
	p.behind = 0
	return n
}

// Stored returns the feed as to be stored again after the store lost it. Its title, tags and other settings of the
// store alone are lost.
func (f *Feed) Stored() storage.Feed {
	s := f.State
	return storage.Feed{ID: f.FeedID, URL: s.URL, Pinned: s.Pinned, FullText: s.FullText, Request: s.Request, Added: s.Polled}
}

// Writes returns how often items of a feed were written to the store, as last reported; 0 if never.
func (p *Plan) Writes(id string) int64 {
	if f := p.feeds[id]; f != nil {
		return f.State.StoreWrites
	}
	return 0
}

// Behind reports whether the store is behind the feed's state: it went back to an older state since.
func (p *Plan) Behind(stored storage.FeedVersion) bool { return stored.Writes < p.Writes(stored.ID) }

// FetchWhole makes a feed due now of which the store lost items, and returns it. The plan must contain it.
func (p *Plan) FetchWhole(stored storage.FeedVersion, now time.Time) *Feed {
	f := p.feeds[stored.ID]
	f.State.StoreWrites = stored.Writes
	p.fetchWhole(f, now, "the store went back to an older state: fetched whole")
	return f
}
